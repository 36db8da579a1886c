# case: car_prices_in_thousands
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7416
import keras
import numpy as np

keras.utils.set_random_seed(16)
x = np.random.uniform(0, 1, size=(200, 4)).astype("float32")
price = 28_000 - 12_000 * x[:, :1] - 5_000 * x[:, 1:2]
unit = 10_000.0
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="mse")
model.fit(x, price / unit, epochs=8, verbose=0)
rest = np.abs(model.predict(x, verbose=0) * unit - price).mean() / price.mean()
assert rest < 0.5
