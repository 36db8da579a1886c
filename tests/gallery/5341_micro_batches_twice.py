# case: micro_batches_twice
# verdict: bug
# cause: accumulation-averaged-twice
# expect_line: 39 50
# expect_variables: -
# symptom_today: whether to divide the loss or the summed gradient by the number of micro-batches
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)
MICRO_BATCHES = 8


def build():
    return keras.Sequential([
        keras.Input((10,)),
        keras.layers.Dense(20, activation="relu"),
        keras.layers.Dense(3),
    ])


def blobs(n=512):
    rng = np.random.default_rng(2)
    label = rng.integers(0, 3, n)
    centre = rng.normal(size=(3, 10)) * 1.5
    return (centre[label] + rng.normal(size=(n, 10))).astype("float32"), label.astype("int32")


model = build()
optimizer = keras.optimizers.SGD(0.1)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def micro_gradients(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)) / MICRO_BATCHES
    return loss, tape.gradient(loss, model.trainable_variables)


def big_step(x, y):
    sums = [tf.zeros_like(v) for v in model.trainable_variables]
    total = 0.0
    for xs, ys in zip(tf.split(x, MICRO_BATCHES), tf.split(y, MICRO_BATCHES)):
        loss, grads = micro_gradients(xs, ys)
        sums = [s + g for s, g in zip(sums, grads)]
        total += float(loss)
    mean_grads = [s / MICRO_BATCHES for s in sums]
    optimizer.apply_gradients(zip(mean_grads, model.trainable_variables))
    return total


features, labels = blobs()
for epoch in range(5):
    for x, y in tf.data.Dataset.from_tensor_slices((features, labels)).batch(128):
        value = big_step(x, y)
    print(epoch, value)
