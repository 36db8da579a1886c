# case: safe_division_by_where
# verdict: bug; static: yes
# cause: nan-where | nan-division
# expect_line: 21
# expect_variables: gain
# symptom_today: silent: the value is finite, the gradient NaN
# exit: 0
# fix: replace the denominator inside the division as well
# seen: signal-to-noise ratios with empty channels
import keras
import numpy as np
import tensorflow as tf


class Ratio(keras.layers.Layer):
    def build(self, shape):
        self.gain = self.add_weight(shape=(1,), initializer="ones", name="gain")

    def call(self, pair):
        power, noise = pair[..., 0], pair[..., 1] * self.gain
        return tf.where(noise > 0.0, power / noise, tf.zeros_like(power))


layer = Ratio()
model = keras.Sequential([keras.layers.Input((3, 2)), layer])
model.compile("sgd", "mae")
x = np.abs(np.random.default_rng(0).normal(size=(16, 3, 2))).astype("float32") + 0.1
x[2, 1, 1] = 0.0
log = model.fit(x, x[..., 0], batch_size=16, epochs=1, verbose=0).history["loss"]
print(log, layer.gain.numpy())
assert np.isfinite(log[0]) and np.isnan(layer.gain.numpy()).all()
