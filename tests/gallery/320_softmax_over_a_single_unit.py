# case: softmax_over_a_single_unit
# verdict: bug; static: no
# cause: one-unit-softmax | zero-gradient-op
# expect_line: 21 25
# expect_variables: *
# symptom_today: silent: every prediction is 1.0, every gradient is exactly zero
# exit: 0
# fix: Dense(1, activation="sigmoid"), or two units
# seen: binary classifiers copied from a ten-class example
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(100, 6)).astype("float32")
y = (x[:, 0] > 0).astype("float32")

model = keras.Sequential([
    keras.layers.Input((6,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="softmax"),
])
model.compile(optimizer="adam", loss="mse", metrics=["accuracy"])
before = model.get_weights()
model.fit(x, y, epochs=3, verbose=0)
assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights()))
print(model.predict(x[:4], verbose=0).ravel())
