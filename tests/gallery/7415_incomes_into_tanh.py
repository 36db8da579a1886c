# case: incomes_into_tanh
# verdict: bug; static: no
# cause: unscaled-data
# expect_line: 23
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: accuracy moves little
# exit: 0
# fix: scale the features
# seen: a table as it is
import keras
import numpy as np

keras.utils.set_random_seed(15)
x = np.random.uniform(15_000, 120_000, size=(256, 3))
y = (x[:, 0] > x[:, 2]).astype("float32")
scale = 1.0
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(12, activation="tanh"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x / scale, y, epochs=5, verbose=0)
assert np.abs(x / scale).max() > 0.5
