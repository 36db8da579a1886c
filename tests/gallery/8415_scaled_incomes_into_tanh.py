# case: scaled_incomes_into_tanh
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7415
import keras
import numpy as np

keras.utils.set_random_seed(15)
x = np.random.uniform(15_000, 120_000, size=(256, 3))
y = (x[:, 0] > x[:, 2]).astype("float32")
scale = 60_000.0
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(12, activation="tanh"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x / scale, y, epochs=5, verbose=0)
assert np.abs(x / scale).max() > 0.5
