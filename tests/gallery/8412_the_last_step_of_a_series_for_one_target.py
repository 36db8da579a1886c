# case: the_last_step_of_a_series_for_one_target
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7412
import keras
import numpy as np

keras.utils.set_random_seed(12)
series = np.random.normal(size=(80, 9, 2)).astype("float32")
tomorrow = series[:, -1, :1] * 0.5
model = keras.Sequential([
    keras.Input((9, 2)),
    keras.layers.GRU(8, return_sequences=False),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(series, tomorrow, epochs=2, verbose=0)
assert model.predict(series, verbose=0).shape[1] == 1
