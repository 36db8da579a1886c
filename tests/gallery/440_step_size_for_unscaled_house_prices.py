# case: step_size_for_unscaled_house_prices
# verdict: bug; static: no
# cause: unscaled-data | learning-rate | exploding-gradient | nan-weights | nan-optimizer | nan-data
# expect_line: 26 27
# expect_variables: *
# symptom_today: silent: the loss is 1e11, then inf, then NaN
# exit: 0
# fix: scale features and prices (or a far smaller learning rate)
# seen: the first regression of almost everybody
import keras
import numpy as np

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
area = rng.uniform(40, 250, size=(80, 1))
rooms = rng.integers(1, 7, size=(80, 1))
year = rng.integers(1900, 2020, size=(80, 1))
houses = np.hstack([area, rooms, year]).astype("float32")
prices = (area * 4000 + rooms * 15000).astype("float32")

model = keras.Sequential([
    keras.layers.Input((3,)),
    keras.layers.Dense(16),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.01), loss="mse")
history = model.fit(houses, prices, batch_size=8, epochs=3, verbose=0)
print(history.history["loss"])
assert np.isnan(history.history["loss"][-1])
