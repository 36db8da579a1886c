# case: one_optimizer_compiled_into_two_models
# verdict: bug; static: yes
# cause: optimizer-variable-mismatch
# expect_line: 15 24 18 30 32
# expect_variables: encoder/*, decoder/*
# symptom_today: raises ValueError: Unknown variable ... This optimizer can only be called for the variables it was originally built with
# exit: 1 (ValueError)
# fix: give every compiled model its own optimizer instance
# source: yzhao062/pyod#459 and mrosol/Nonlincausality#12 (one optimizer instance compiled into several models)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(0)
adam = keras.optimizers.Adam(2e-4, beta_1=0.5)

judge = keras.Sequential([keras.Input((3,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="sigmoid")], name="judge")
judge.compile(adam, "binary_crossentropy")

encoder = keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="relu"), layers.Dense(3)], name="encoder")
decoder = keras.Sequential([keras.Input((3,)), layers.Dense(6)], name="decoder")
row = keras.Input((6,))
auto = keras.Model(row, decoder(encoder(row)))
auto.compile(adam, "mse")

rng = np.random.default_rng(0)
for it in range(3):
    rows = rng.normal(size=(16, 6)).astype("float32")
    real = rng.normal(size=(16, 3)).astype("float32")
    judge.train_on_batch(real, np.ones((16, 1)))
    judge.train_on_batch(encoder.predict(rows, verbose=0), np.zeros((16, 1)))
    out = auto.train_on_batch(rows, rows)
    print(it, out)
