# case: row_losses_as_python_floats
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 27
# expect_variables: dense/*, dense_1/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: keep the tensors: tf.stack([cross_entropy(...) for ...])
# source: tensorflow/tensorflow#30190 (losses.append(float(loss)))
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(10, activation="relu"), keras.layers.Dense(3)])
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(0.01)


def distance_to_normal(sample):
    mean, variance = tf.nn.moments(sample, axes=0)
    return tf.square(mean) + tf.square(variance - 1.0)


def loss(model, x, y):
    logits = model(x)
    rows = tf.constant([float(cross_entropy(y[i:i + 1], logits[i:i + 1])) for i in range(len(y))])
    return distance_to_normal(rows)


def grad(model, inputs, targets):
    with tf.GradientTape() as tape:
        value = loss(model, inputs, targets)
    return value, tape.gradient(value, model.trainable_variables)


rng = np.random.default_rng(0)
features = rng.normal(size=(12, 4)).astype("float32")
labels = rng.integers(0, 3, size=12)
for epoch in range(2):
    value, grads = grad(model, features, labels)
    print(epoch, float(value), [g is None for g in grads])
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
