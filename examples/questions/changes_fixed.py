"""Keep the critic's kernels small after every update, as a Wasserstein GAN does."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
real = tf.random.normal((128, 2)) + 2.0
fake = tf.random.normal((128, 2))

hidden = tf.Variable(tf.random.normal((2, 16)), name="hidden")
readout = tf.Variable(tf.random.normal((16, 1)), name="readout")
optimizer = keras.optimizers.RMSprop(0.005)


def critic(points):
    return tf.nn.leaky_relu(points @ hidden) @ readout


for step in range(30):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
    optimizer.apply_gradients(zip(tape.gradient(loss, [hidden, readout]), [hidden, readout]))
    for kernel in (hidden, readout):
        kernel.assign(tf.clip_by_value(kernel, -0.1, 0.1))
print(f"largest weight {float(tf.reduce_max(tf.abs(hidden))):.2f}")
