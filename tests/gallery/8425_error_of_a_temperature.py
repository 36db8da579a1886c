# case: error_of_a_temperature
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7425
import keras
import numpy as np

keras.utils.set_random_seed(25)
x = np.random.normal(size=(128, 3)).astype("float32")
y = 0.7 * x[:, 0] - 0.2 * x[:, 1] * x[:, 2]
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
log = model.fit(x, y, epochs=3, verbose=0)
assert "mae" in log.history
