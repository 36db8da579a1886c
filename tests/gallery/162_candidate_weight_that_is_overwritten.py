# case: candidate_weight_that_is_overwritten
# verdict: bug; static: no
# cause: variable-not-in-loss | never-updated
# expect_line: 25 34 35 45
# expect_variables: interim
# symptom_today: silent: the loop hands back a gradient of zeros for interim, which never moves
# exit: 0
# fix: build the candidate from self.interim (the reset state), not from the reset kernel again
# seen: a hand-written gated recurrent cell
import keras
import numpy as np
from keras import ops


class MyGRU(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units

    def build(self, shape):
        width = shape[-1] + self.units
        self.reset = self.add_weight(shape=(width, self.units), initializer="glorot_uniform", name="reset")
        self.update = self.add_weight(shape=(width, self.units), initializer="glorot_uniform", name="update")
        self.interim = self.add_weight(shape=(width, self.units), initializer="glorot_uniform", name="interim")
        self.built = True

    def call(self, x, states):
        h = states[0]
        both = ops.concatenate([x, h], axis=-1)
        r = ops.sigmoid(ops.matmul(both, self.reset))
        z = ops.sigmoid(ops.matmul(both, self.update))
        gated = ops.concatenate([x, r * h], axis=-1)
        candidate = ops.tanh(ops.matmul(gated, self.interim))
        candidate = ops.tanh(ops.matmul(gated, self.reset))
        h = (1.0 - z) * h + z * candidate
        return h, [h]


cell = MyGRU(6)
model = keras.Sequential([keras.layers.Input((5, 3)), keras.layers.RNN(cell), keras.layers.Dense(1)])
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(40, 5, 3)).astype("float32")
before = cell.interim.numpy()
model.fit(x, x[:, -1, :1], epochs=2, verbose=0)
assert np.array_equal(before, cell.interim.numpy())
