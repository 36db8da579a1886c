# case: recurrent_cell_with_raw_variables
# verdict: bug; static: yes
# cause: untracked-variable
# expect_line: 26 27 30
# expect_variables: decay, gain
# symptom_today: silent: decay and gain keep their starting values, the loss goes down through the Dense layer
# exit: 0
# fix: create them with self.add_weight in build (Keras 3 does not track tf.Variable)
# source: keras-team/keras#16797, haidark/WaveletDeconv#1 (the custom layer's weights are never learned until add_weight is used)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class LeakyCell(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.state_size = units
        self.proj = keras.layers.Dense(units)

    def build(self, shape):
        self.proj.build(shape)
        self.decay = tf.Variable(tf.fill([self.units], 0.5), name="decay")
        self.gain = tf.Variable(tf.ones([self.units]), name="gain")

    def call(self, x, states):
        h = tf.sigmoid(self.decay) * states[0] + self.gain * tf.tanh(self.proj(x))
        return h, [h]


cell = LeakyCell(8)
model = keras.Sequential([keras.Input((10, 2)), keras.layers.RNN(cell), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2), "mse")
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 10, 2)).astype("float32")
y = x[:, :, :1].sum(1)
history = model.fit(x, y, epochs=3, verbose=0)
print(history.history["loss"], "tracked", [v.path for v in model.trainable_variables])
assert np.allclose(cell.decay.numpy(), 0.5) and len(model.trainable_variables) == 4
