# case: constant_column_standardised
# verdict: bug; static: no
# cause: nan-data | nan-division
# expect_line: 21 26
# expect_variables: - (the data; every variable is NaN after it)
# symptom_today: silent: 0 / 0 in the scaled table, loss and weights are NaN from the first batch
# exit: 0
# fix: divide by np.where(std > 0, std, 1)
# seen: tabular notebooks that standardise by hand
import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
table = rng.normal(size=(60, 4)).astype("float32")
table[:, 2] = 1.0  # every customer agreed to the terms
price = table[:, :1] * 3.0 + 1.0

mean, std = table.mean(axis=0), table.std(axis=0)
with np.errstate(invalid="ignore"):
    scaled = (table - mean) / std

train = tf.data.Dataset.from_tensor_slices((scaled, price)).shuffle(60, seed=0).batch(20)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
history = model.fit(train, epochs=1, verbose=0)
assert np.isnan(history.history["loss"][0])
