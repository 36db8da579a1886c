# case: ternary_weights_estimator
# verdict: bug
# cause: wrong-custom-gradient | custom-gradient
# expect_line: 20 22
# expect_variables: -
# symptom_today: a straight-through estimator whose backward returns one instead of the upstream gradient
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(16)


@tf.custom_gradient
def ternary(w, threshold=0.3):
    quantised = tf.where(w > threshold, tf.ones_like(w), tf.where(w < -threshold, -tf.ones_like(w), tf.zeros_like(w)))

    def grad(upstream):
        inside = tf.cast(tf.abs(w) <= 1.0, w.dtype)
        return inside, None

    return quantised, grad


class TernaryDense(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.scale = self.add_weight(shape=(self.units,), initializer="ones", name="scale")

    def call(self, x):
        kernel = ternary(tf.convert_to_tensor(self.kernel), tf.constant(0.3))
        return tf.matmul(x, kernel) * self.scale


rng = np.random.default_rng(2)
x = rng.normal(size=(256, 8)).astype("float32")
true_kernel = rng.choice([-1.0, 0.0, 1.0], size=(8, 4))
y = (x @ true_kernel).astype("float32")

layer = TernaryDense(4)
layer(x[:1])
optimizer = keras.optimizers.SGD(0.02)
for step in range(60):
    rows = rng.integers(0, 256, 64)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(layer(x[rows]) - y[rows]))
    grads = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply_gradients(zip(grads, layer.trainable_variables))
    if step % 15 == 0:
        print(step, float(loss), "agreement", float(np.mean(np.sign(layer.kernel.numpy()) == np.sign(true_kernel))))
