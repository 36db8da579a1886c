# case: shares_behind_a_sigmoid
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7402
import keras
import numpy as np

keras.utils.set_random_seed(2)
x = np.random.uniform(-1, 1, size=(200, 3)).astype("float32")
price = 0.5 + 0.2 * x[:, :1] - 0.2 * x[:, 1:2]
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mae")
model.fit(x, price, epochs=5, verbose=0)
assert model.predict(x, verbose=0).max() <= 1.0
