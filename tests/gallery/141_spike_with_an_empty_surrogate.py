# case: spike_with_an_empty_surrogate
# verdict: bug; static: no
# cause: custom-gradient | zero-gradient-op
# expect_line: 22 36
# expect_variables: synapses/kernel
# symptom_today: silent: the synapses get a gradient of exact zeros and never change
# exit: 0
# fix: return a surrogate slope, such as dy / (1 + 10 * abs(v - threshold)) ** 2
# seen: spiking networks trained by surrogate gradients
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)


@tf.custom_gradient
def fire(v):
    spikes = tf.cast(v > 0.5, v.dtype)

    def surrogate(dy):
        return tf.zeros_like(dy)

    return spikes, surrogate


class Spiking(keras.layers.Layer):
    def __init__(self, units, leak=0.7, **kwargs):
        super().__init__(**kwargs)
        self.synapses, self.leak = keras.layers.Dense(units, use_bias=False, name="synapses"), leak

    def call(self, current):
        v, count = 0.0, 0.0
        for t in range(4):
            v = self.leak * v + self.synapses(current[:, t])
            count += fire(v)
        return count


layer = Spiking(units=6)
net = keras.Sequential([keras.layers.Input((4, 3)), layer, keras.layers.Dense(1)])
net.compile("adam", "mse")
x = np.random.default_rng(3).uniform(size=(48, 4, 3)).astype("float32")
start = layer.synapses.get_weights()[0].copy()
net.fit(x, x.sum(axis=(1, 2))[:, None], epochs=3, verbose=0)
assert np.array_equal(start, layer.synapses.get_weights()[0])
