# case: binary_network_straight_through
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: binarised weights with a custom gradient
import keras
import numpy as np
import tensorflow as tf


@tf.custom_gradient
def binarise(w):
    def backward(dy):
        return tf.where(tf.abs(w) <= 1.0, dy, tf.zeros_like(dy))

    return tf.where(w >= 0.0, tf.ones_like(w), -tf.ones_like(w)), backward


class BinaryDense(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")

    def call(self, x):
        return tf.matmul(x, binarise(tf.convert_to_tensor(self.kernel)))


keras.utils.set_random_seed(5)
net = keras.Sequential([keras.layers.Input((5,)), BinaryDense(12), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
net.compile(keras.optimizers.Adam(0.02), "mse")
x = np.random.default_rng(2).normal(size=(128, 5)).astype("float32")
log = net.fit(x, x.sum(1, keepdims=True), epochs=6, verbose=0).history["loss"]
print(log[0], log[-1])
assert log[-1] < log[0]
