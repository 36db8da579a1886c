# case: warm_up_in_half_precision_then_two_losses
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: one LossScaleOptimizer in three loops: the loss scaled in the tape, the scale handed in as a number, gradients scaled
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)
keras.mixed_precision.set_global_policy("mixed_float16")

rng = np.random.default_rng(5)
rows = rng.normal(size=(256, 6)).astype("float32")
wanted = (rows @ rng.normal(size=(6, 1)) + 0.3).astype("float32")
data = tf.data.Dataset.from_tensor_slices((rows, wanted)).batch(64)

net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, dtype="float32")])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.02), initial_scale=2.0 ** 10)
optimizer.build(net.trainable_variables)


def error(x, y):
    return tf.reduce_mean(tf.square(net(x, training=True) - y))


def move(gradients):
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))


def warm_up(x, y):  # at once
    with tf.GradientTape() as tape:
        loss = error(x, y)
        scaled = optimizer.scale_loss(loss)
    move(tape.gradient(scaled, net.trainable_variables))
    return loss


@tf.function
def by_hand(x, y, scale):
    with tf.GradientTape() as tape:
        loss = error(x, y)
        scaled = loss * scale
    move(tape.gradient(scaled, net.trainable_variables))
    return loss


@tf.function
def gradients_of(x, y):
    with tf.GradientTape() as tape:
        loss = error(x, y)
        penalty = 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in net.trainable_variables])
        scaled = optimizer.scale_loss(loss + penalty)
    return loss, tape.gradient(scaled, net.trainable_variables)


def in_two_parts(x, y):
    loss, gradients = gradients_of(x, y)
    move(gradients)
    return loss


curve = []
for step in (warm_up, lambda x, y: by_hand(x, y, tf.constant(optimizer.dynamic_scale.numpy())), in_two_parts):
    for _ in range(8):
        curve.append(np.mean([float(step(x, y)) for x, y in data]))
    print(f"error {curve[-1]:.4f}")
assert curve[-1] < 0.1 * curve[0]
