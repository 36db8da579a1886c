# case: biases_that_start_at_zero
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7422
import keras
import numpy as np

keras.utils.set_random_seed(22)
x = np.random.normal(size=(256, 3)).astype("float32")
y = np.abs(x[:, :1]) - x[:, 1:2]
start = {"bias_initializer": "zeros"}
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(16, activation="relu", **start),
    keras.layers.Dense(1, **start),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=4, verbose=0)
assert model.predict(x, verbose=0).std() > 1e-6
