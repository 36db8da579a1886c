# case: input_convex_network_with_nonneg_weights
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (ICNN pattern)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)


class Convex(keras.Model):
    def __init__(self, units=16):
        super().__init__()
        self.first = layers.Dense(units)
        self.skip = layers.Dense(units)
        self.inner = layers.Dense(units, use_bias=False, kernel_constraint="non_neg", kernel_initializer=keras.initializers.RandomUniform(0.0, 0.2))
        self.last = layers.Dense(1, use_bias=False, kernel_constraint="non_neg", kernel_initializer=keras.initializers.RandomUniform(0.0, 0.2))

    def call(self, x):
        z = tf.nn.softplus(self.first(x))
        z = tf.nn.softplus(self.inner(z) + self.skip(x))
        return self.last(z)


net = Convex()
opt = keras.optimizers.Adam(1e-2)
rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(64, 2)), tf.float32)
field = 2.0 * x * [1.0, 0.3]
net(x)


@tf.function
def step():
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            potential = net(x, training=True)
        slope = inner.gradient(potential, x)
        loss = tf.reduce_mean(tf.square(slope - field))
    weights = net.trainable_variables
    grads = outer.gradient(loss, weights)
    opt.apply_gradients([(g, w) for g, w in zip(grads, weights) if g is not None])
    return loss


log = [float(step()) for _ in range(60)]
print(log[0], log[-1])
assert log[-1] < log[0] and net.inner.kernel.numpy().min() >= 0.0
