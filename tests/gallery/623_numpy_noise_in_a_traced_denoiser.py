# case: numpy_noise_in_a_traced_denoiser
# verdict: bug; static: yes
# cause: python-state-in-graph
# expect_line: 24
# expect_variables: -
# symptom_today: silent: the same noise is added in every step
# exit: 0
# fix: tf.random.normal(tf.shape(x)) in the traced function
# seen: denoising autoencoders decorated with tf.function
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Denoiser(tf.Module):
    def __init__(self, width):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal((width, 12), stddev=0.3, seed=1), name="w1")
        self.w2 = tf.Variable(tf.random.normal((12, width), stddev=0.3, seed=2), name="w2")
        self.optimizer = keras.optimizers.Adam(1e-2)

    @tf.function
    def train(self, x):
        noisy = x + np.random.normal(0.0, 0.3, size=x.shape).astype("float32")
        with tf.GradientTape() as tape:
            restored = tf.tanh(noisy @ self.w1) @ self.w2
            loss = tf.reduce_mean((restored - x) ** 2)
        variables = [self.w1, self.w2]
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss, noisy


denoiser = Denoiser(6)
x = tf.random.normal((16, 6), seed=3)
_, first = denoiser.train(x)
for _ in range(5):
    loss, noisy = denoiser.train(x)
assert tf.reduce_all(noisy == denoiser.train(x)[1])
