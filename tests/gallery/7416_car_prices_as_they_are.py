# case: car_prices_as_they_are
# verdict: bug; static: no
# cause: unscaled-data
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the loss hardly moves from its first value
# exit: 0
# fix: scale the targets
# seen: the first regression of almost everybody
import keras
import numpy as np

keras.utils.set_random_seed(16)
x = np.random.uniform(0, 1, size=(200, 4)).astype("float32")
price = 28_000 - 12_000 * x[:, :1] - 5_000 * x[:, 1:2]
unit = 1.0
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="mse")
model.fit(x, price / unit, epochs=8, verbose=0)
rest = np.abs(model.predict(x, verbose=0) * unit - price).mean() / price.mean()
assert rest > 0.5
