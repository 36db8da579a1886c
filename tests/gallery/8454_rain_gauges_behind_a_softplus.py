# case: rain_gauges_behind_a_softplus
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the gauges' noise puts some dry days a little below zero, where softplus cannot follow, and need not
# exit: 0
# fix: -
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(12)


def gauges(days=1500, seed=3):
    """Pressure, humidity, wind and season of a day, and the rain that a gauge read; it is dry on half of the days."""
    rng = np.random.default_rng(seed)
    weather = rng.normal(size=(days, 4)).astype("float32")
    rain = np.maximum(2.5 * weather[:, 0] - 1.5 * weather[:, 1] + 0.5 * weather[:, 2], 0.0)
    return weather, (rain + rng.normal(scale=0.12, size=days)).astype("float32")[:, None]


def network(last):
    given = keras.Input((4,))
    hidden = layers.Dense(24, activation="relu")(given)
    return keras.Model(given, last(hidden))


def corrected(hidden):
    """A rectified estimate and a correction that may be of either sign: together they reach everything."""
    estimate = layers.Dense(1, activation="softplus", name="estimate")(hidden)
    return layers.Add(name="corrected")([estimate, layers.Dense(1, name="correction")(hidden)])


x, y = gauges()
print(f"{np.mean(y < 0):.2f} of the readings are below zero, the lowest is {y.min():.2f}, the highest {y.max():.2f}")
assert np.mean(y < 0) > 0.15

rain = network(layers.Dense(1, activation="softplus", name="rain"))
rain.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
history = rain.fit(x, y, epochs=8, batch_size=64, verbose=0).history["loss"]
assert history[-1] < 0.1 * y.var()

standardised = (y - y.mean()) / y.std()
both = network(corrected)
both.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
history = both.fit(x, standardised, epochs=8, batch_size=64, verbose=0).history["loss"]
assert history[-1] < 0.1 and both.predict(x, verbose=0).min() < -0.3
