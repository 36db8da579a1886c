# case: missing_value_in_the_table
# verdict: bug; static: no
# cause: nan-data
# expect_line: 27
# expect_variables: - (the data; every variable is NaN after it)
# symptom_today: silent: loss: nan from the second batch on
# exit: 0
# fix: fill or drop the missing value before training
# seen: CSV files with empty cells
import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
table = rng.normal(size=(60, 4)).astype("float32")
table[17, 2] = np.nan
price = table[:, :1] * 2.0


def pipeline(x, y):
    data = tf.data.Dataset.from_tensor_slices((x, y))
    return data.map(lambda a, b: (a / 2.0, b)).batch(10)


model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(), "mse")
log = model.fit(pipeline(table, price), epochs=2, verbose=0).history["loss"]
print(log)
assert np.isnan(log[-1])
