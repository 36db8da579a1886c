# case: gru_cell_candidate_weight_unused
# verdict: bug; static: no
# cause: variable-not-in-loss
# expect_line: 27 34
# expect_variables: rnn/cell/interim
# symptom_today: UserWarning: Gradients do not exist for variables ['sequential/rnn/cell/interim'] when minimizing the loss
# exit: 0
# fix: use self.interim for the candidate
# source: tensorflow/probability#927 (custom GRU: gradients do not exist for rnn/my_gru/interim)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(0)


class MyGRUCell(keras.layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units
        self.state_size = units

    def build(self, shape):
        both = shape[-1] + self.units
        self.reset = self.add_weight(shape=(both, self.units), initializer="glorot_uniform", name="reset")
        self.update = self.add_weight(shape=(both, self.units), initializer="glorot_uniform", name="update")
        self.interim = self.add_weight(shape=(both, self.units), initializer="glorot_uniform", name="interim")

    def call(self, x, states):
        h = states[0]
        xh = ops.concatenate([x, h], axis=-1)
        r = ops.sigmoid(ops.matmul(xh, self.reset))
        z = ops.sigmoid(ops.matmul(xh, self.update))
        candidate = ops.tanh(ops.matmul(ops.concatenate([x, r * h], axis=-1), self.update))
        h = (1.0 - z) * h + z * candidate
        return h, [h]


model = keras.Sequential([keras.layers.Input((9, 3)), keras.layers.RNN(MyGRUCell(5, name="cell"), name="rnn"), keras.layers.Dense(1)])
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(32, 9, 3)).astype("float32")
model.fit(x, x.sum((1, 2))[:, None], epochs=2, verbose=0)
print([v.path for v in model.trainable_variables])
