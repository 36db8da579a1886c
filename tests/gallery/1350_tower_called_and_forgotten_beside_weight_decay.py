# case: tower_called_and_forgotten_beside_weight_decay
# verdict: bug
# cause: variable-not-in-loss
# expect_line: 25
# expect_variables: dense/kernel
# symptom_today: trains without a warning; the first layer only shrinks
# exit: 0
# fix: use what `self.first` gives: `h = self.first(x)`
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)


class Scorer(keras.Model):
    def __init__(self):
        super().__init__()
        decay = keras.regularizers.L2(1e-3)
        self.first = keras.layers.Dense(4, kernel_regularizer=decay, use_bias=False)
        self.last = keras.layers.Dense(1, kernel_regularizer=decay, use_bias=False)

    def call(self, x):
        h = x
        self.first(h)
        return self.last(h)


model = Scorer()
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
model.fit(x, x.sum(1, keepdims=True), epochs=3, verbose=0)
