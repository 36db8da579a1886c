# case: every_step_of_a_series_for_one_target
# verdict: bug; static: no
# cause: labels-do-not-fit-units
# expect_line: 18 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: all steps learn the same number
# exit: 0
# fix: return_sequences=False
# seen: a second recurrent layer taken away
import keras
import numpy as np

keras.utils.set_random_seed(12)
series = np.random.normal(size=(80, 9, 2)).astype("float32")
tomorrow = series[:, -1, :1] * 0.5
model = keras.Sequential([
    keras.Input((9, 2)),
    keras.layers.GRU(8, return_sequences=True),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(series, tomorrow, epochs=2, verbose=0)
assert model.predict(series, verbose=0).shape[1] == 9
