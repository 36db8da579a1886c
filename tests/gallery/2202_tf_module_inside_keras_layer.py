# case: tf_module_inside_keras_layer
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 21 22 31
# expect_variables: frequency, shift
# symptom_today: silent: only the Dense layer is trained
# exit: 0
# fix: create frequency and shift with add_weight in the layer
# source: tensorflow/tensorflow#47264 (Keras layers do not track tf.Module)
import math
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class FourierBasis(tf.Module):
    def __init__(self, count):
        super().__init__(name="basis")
        self.frequency = tf.Variable(tf.linspace(0.5, 3.0, count)[None, :], name="frequency")
        self.shift = tf.Variable(tf.zeros((1, count)), name="shift")

    def __call__(self, x):
        return tf.sin(2 * math.pi * x * self.frequency + self.shift)


class FourierLayer(keras.layers.Layer):
    def __init__(self, count, **kw):
        super().__init__(**kw)
        self.basis = FourierBasis(count)

    def call(self, x):
        return self.basis(x)


inp = keras.Input((1,))
fourier = FourierLayer(6, name="fourier")
model = keras.Model(inp, keras.layers.Dense(1)(fourier(inp)))
model.compile(optimizer=keras.optimizers.Adam(2e-2), loss="mse")
x = np.linspace(-1, 1, 64, dtype="float32")[:, None]
before = fourier.basis.frequency.numpy().copy()
history = model.fit(x, np.sin(7 * x), epochs=5, verbose=0)
print(history.history["loss"], [v.path for v in model.trainable_variables])
assert np.array_equal(before, fourier.basis.frequency.numpy())
