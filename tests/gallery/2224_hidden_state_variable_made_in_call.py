# case: hidden_state_variable_made_in_call
# verdict: bug; static: yes
# cause: variable-created-in-tf-function | variable-recreated
# expect_line: 29
# expect_variables: - (hidden is never made)
# symptom_today: raises ValueError: tf.function only supports singleton tf.Variables created on the first call
# exit: 1 (ValueError)
# fix: h = tf.zeros((batch, units)): the state of one sequence is a tensor
# source: tensorflow/tensorflow#33576, tensorflow/tensorflow#27120 (tried to create variables on non-first call)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(14)


class ElmanLayer(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.inner = keras.layers.Dense(units)
        self.outer = keras.layers.Dense(units, use_bias=False)

    def build(self, shape):
        self.inner.build((None, shape[-1]))
        self.outer.build((None, self.units))

    def call(self, sequence):
        h = tf.Variable(tf.zeros((8, self.units)), trainable=False, name="hidden")
        for t in range(sequence.shape[1]):
            h = tf.tanh(self.inner(sequence[:, t]) + self.outer(h))
        return h


model = keras.Sequential([ElmanLayer(6), keras.layers.Dense(1)])
model.compile(optimizer="rmsprop", loss="mse")
x = np.random.default_rng(0).normal(size=(32, 5, 3)).astype("float32")
model.fit(x, x[:, -1, :1], batch_size=8, epochs=2, verbose=0)
