# case: temperatures_in_a_squared_error
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7413
import keras
import numpy as np

keras.utils.set_random_seed(13)
x = np.random.normal(size=(120, 3)).astype("float32")
celsius = 1.2 + 0.4 * x[:, :1]
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(8, activation="tanh"),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, celsius, epochs=3, verbose=0)
assert model.predict(x, verbose=0).std() > 0.0
