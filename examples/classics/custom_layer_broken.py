"""A layer with a learned scale and shift for every feature, in Keras 3."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(256, 4)).astype("float32")
y = 3.0 * np.tanh(2.0 * x[:, :1] + 1.0) + x[:, 1:2]


class ScaleAndShift(keras.layers.Layer):
    def build(self, input_shape):
        width = input_shape[-1]
        self.scale = tf.Variable(tf.ones((width,)), name="scale")
        self.shift = tf.Variable(tf.zeros((width,)), name="shift")

    def call(self, inputs):
        return self.scale * inputs + self.shift


model = keras.Sequential(
    [
        keras.Input((4,)),
        ScaleAndShift(name="calibration"),
        keras.layers.Dense(8, activation="tanh"),
        keras.layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(0.01), "mse")
history = model.fit(x, y, epochs=8, verbose=0)
print(f"loss {history.history['loss'][-1]:.3f}, {model.count_params()} weights")
