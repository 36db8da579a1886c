# case: clipped_outputs_far_outside
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 21
# expect_variables: dense/* (regressor/*)
# symptom_today: silent: all gradients are zero because every output is clipped
# exit: 0
# fix: clip the targets or use a sigmoid; do not clip the prediction inside the loss
# seen: rating predictors that clamp to [1, 5]
import keras
import numpy as np
import tensorflow as tf


class Clamped(keras.layers.Layer):
    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def call(self, x):
        return tf.clip_by_value(x, self.low, self.high)


inputs = keras.Input((3,))
raw = keras.layers.Dense(1, kernel_initializer="zeros", bias_initializer="zeros")(inputs)
regressor = keras.Model(inputs, Clamped(1.0, 5.0)(raw), name="regressor")
regressor.compile("sgd", "mse")
x = np.random.default_rng(1).normal(size=(40, 3)).astype("float32")
stars = np.full((40, 1), 4.0, "float32")
log = regressor.fit(x, stars, epochs=3, verbose=0).history["loss"]
print(log)
assert log[0] == log[-1] == 9.0
