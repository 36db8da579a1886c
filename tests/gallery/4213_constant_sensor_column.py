# case: constant_sensor_column
# verdict: bug; static: no
# cause: nan-data
# expect_line: 25 32
# expect_variables: - (the data; the dense layers are NaN after the first batch)
# symptom_today: a NumPy RuntimeWarning (invalid value in divide), then loss nan
# exit: 0
# fix: drop the constant column, or divide by std + 1e-7
# source: evandowning/deepreflect#11 (loss nan; a feature whose spread is zero was normalised by it), keras-team/keras#2001 (nan once the inputs are divided by their std)
import numpy as np
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)


def load_readings(n=80):
    frame = rng.normal(loc=[20.0, 1013.0, 0.0, 55.0], scale=[4.0, 9.0, 1.0, 12.0], size=(n, 4))
    frame[:, 2] = 0.0                            # the rain gauge was unplugged all month
    demand = 3.0 * frame[:, 0] - 0.1 * frame[:, 3] + rng.normal(size=n)
    return frame.astype("float32"), demand.astype("float32")[:, None]


readings, demand = load_readings()
readings = (readings - readings.mean(axis=0)) / readings.std(axis=0)
demand = (demand - demand.mean()) / demand.std()

inputs = keras.Input((4,))
hidden = keras.layers.Dense(16, activation="tanh")(inputs)
model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
model.compile(optimizer="adam", loss="mae")
history = model.fit(readings, demand, batch_size=16, epochs=2, verbose=0)
print(history.history)
assert np.isnan(history.history["loss"][-1])
