# case: rate_of_calls_from_the_year
# verdict: bug; static: no
# cause: nan-exp
# expect_line: 21 23
# expect_variables: *
# symptom_today: silent: the loss is inf or NaN from the first epoch, all weights NaN
# exit: 0
# fix: standardise the year, or use a softplus
# source: pythonkb.com and e-learn.cn pages on NaN losses (overflow of an exponential)
import numpy as np
import keras

keras.utils.set_random_seed(24)
rng = np.random.default_rng(0)
year = rng.integers(2001, 2024, size=(80, 1)).astype("float32")
weekday = rng.integers(0, 7, size=(80, 1)).astype("float32")
calls = rng.poisson(4.0, size=(80, 1)).astype("float32")
features = np.concatenate([year, weekday], axis=1)

inputs = keras.Input((2,))
rate = keras.layers.Dense(1, activation="exponential", kernel_initializer=keras.initializers.Constant(0.05), name="rate")(inputs)
model = keras.Model(inputs, rate)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="poisson")
history = model.fit(features, calls, batch_size=20, epochs=2, verbose=0)
print(history.history["loss"])
assert np.isnan(model.get_weights()[0]).any()
