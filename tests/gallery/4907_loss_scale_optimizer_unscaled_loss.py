# case: loss_scale_optimizer_unscaled_loss
# verdict: bug
# cause: loss-scale-missing
# expect_line: 31 39 40 41
# expect_variables: dense/*, dense_1/*, dense_2/* (they move 1/32768 of what they should)
# symptom_today: silent: the loss stays where it is; in float32, or with model.fit, the same model learns
# exit: 0
# fix: inside the tape: scaled = optimizer.scale_loss(loss), and take the gradient of that
# source: keras-team/keras#19244 (LossScaleOptimizer in a custom loop, optimizer only wrapped, training does not improve); keras-team/keras#19479
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(2)
keras.mixed_precision.set_global_policy("mixed_float16")

rng = np.random.default_rng(1)
x = rng.normal(size=(256, 10)).astype("float32")
y = (x @ rng.normal(size=(10, 3))).argmax(axis=1).astype("int32")
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(256, seed=0).batch(64)

inputs = keras.Input((10,))
h = layers.Dense(32, activation="relu")(inputs)
h = layers.Dense(32, activation="relu")(h)
h = layers.Dense(3)(h)
outputs = layers.Activation("softmax", dtype="float32")(h)
model = keras.Model(inputs, outputs, name="classifier")

optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
optimizer = keras.mixed_precision.LossScaleOptimizer(optimizer)
loss_object = keras.losses.SparseCategoricalCrossentropy()


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


before = [w.copy() for w in model.get_weights()]
history = []
for epoch in range(12):
    epoch_loss = np.mean([float(train_step(bx, by)) for bx, by in train])
    history.append(epoch_loss)
print("loss", history[0], "->", history[-1])
moved = max(np.abs(a - b).max() for a, b in zip(before, model.get_weights()))
print("largest change of a weight", moved)
assert history[-1] > 0.97 * history[0]
assert moved < 1e-2
