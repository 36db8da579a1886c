# case: gate_layer_kept_in_a_closure
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 18 21 32
# expect_variables: gate/*
# symptom_today: silent: the gate is not in model.trainable_variables and keeps its first values
# exit: 0
# fix: self.gate = layers.Dense(...) and use it in call
# source: keras-team/keras#16797 (variables that the model does not track are not trained)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(12)


def make_highway(units):
    gate = layers.Dense(units, activation="sigmoid", bias_initializer=keras.initializers.Constant(-1.0), name="gate")

    def mix(x, transformed):
        t = gate(x)
        return t * transformed + (1.0 - t) * x

    return gate, mix


class Highway(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.transform = layers.Dense(units, activation="relu")
        self.head = layers.Dense(1)
        self.mix = make_highway(units)[1]

    def call(self, x):
        return self.head(self.mix(x, self.transform(x)))


x = np.random.default_rng(0).normal(size=(128, 5)).astype("float32")
y = np.abs(x).sum(axis=1, keepdims=True)
model = Highway(5)
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse")
model(x[:1])
gate = model.mix.__closure__[0].cell_contents
before = gate.kernel.numpy().copy()
model.fit(x, y, epochs=4, verbose=0)
print("variables known to the model:", len(model.trainable_variables))
print("gate moved by", np.abs(gate.kernel.numpy() - before).max())
assert len(model.trainable_variables) == 4 and np.array_equal(before, gate.kernel.numpy())
