# case: sample_weights_that_are_all_zero
# verdict: bug
# cause: zero-gradient-op
# expect_line: 19
# expect_variables: dense/*, dense_1/*
# symptom_today: the loss stays at 0
# exit: 0
# fix: weights of 1 for the samples that count
# seen: weights read from the wrong column
import keras
import numpy as np

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(1).normal(size=(32, 3)).astype("float32")
table = np.stack([np.ones(32), np.zeros(32)], axis=1)
before = model.get_weights()
model.fit(x, x[:, :1], sample_weight=table[:, 1], epochs=6, batch_size=8, verbose=0)
assert all((a == b).all() for a, b in zip(before, model.get_weights()))
