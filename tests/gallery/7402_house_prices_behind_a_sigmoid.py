# case: house_prices_behind_a_sigmoid
# verdict: bug; static: no
# cause: output-cannot-reach-target
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the loss stops falling
# exit: 0
# fix: no activation in the last layer
# seen: a classifier that was turned into a regression
import keras
import numpy as np

keras.utils.set_random_seed(2)
x = np.random.uniform(-1, 1, size=(200, 3)).astype("float32")
price = 2.5 + 1.5 * x[:, :1] - x[:, 1:2]
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mae")
model.fit(x, price, epochs=5, verbose=0)
assert model.predict(x, verbose=0).max() <= 1.0
