# case: attention_with_infinite_mask
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: causal masks of minus infinity before the softmax
import keras
import numpy as np
import tensorflow as tf


class Causal(keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = (keras.layers.Dense(width, use_bias=False) for _ in range(3))
        self.scale = width**-0.5

    def call(self, x):
        scores = tf.matmul(self.q(x), self.k(x), transpose_b=True) * self.scale
        length = tf.shape(x)[1]
        future = tf.linalg.band_part(tf.ones((length, length)), -1, 0) == 0.0
        scores = tf.where(future, tf.constant(-np.inf, tf.float32), scores)
        return x + tf.matmul(tf.nn.softmax(scores), self.v(x))


keras.utils.set_random_seed(8)
inp = keras.Input((6, 4))
net = keras.Model(inp, keras.layers.Dense(4)(Causal(4)(inp)))
net.compile(keras.optimizers.Adam(0.02), "mse")
x = np.random.default_rng(8).normal(size=(48, 6, 4)).astype("float32")
log = net.fit(x, np.cumsum(x, axis=1) / 3, epochs=5, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0] and np.isfinite(log).all()
