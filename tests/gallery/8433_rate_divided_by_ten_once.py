# case: rate_divided_by_ten_once
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7433
import keras
import numpy as np

keras.utils.set_random_seed(33)
x = np.random.uniform(-1.0, 1.0, size=(320, 3))
y = np.sin(3.0 * x[:, :1]) + x[:, 1:2]
schedule = keras.optimizers.schedules.ExponentialDecay(
    0.01,
    decay_steps=1000,
    decay_rate=0.1,
)
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse")
loss = model.fit(x, y, epochs=20, verbose=0).history["loss"]
assert loss[-1] < 0.2 * loss[0]
