# case: rate_of_a_tenth_for_plain_descent
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7418
import keras
import numpy as np

keras.utils.set_random_seed(18)
x = np.random.normal(size=(256, 3)).astype("float32")
y = np.sin(x[:, :1]) + x[:, 1:2] ** 2
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.1), loss="mse")
log = model.fit(x, y, epochs=4, verbose=0)
assert log.history["loss"][-1] < y.var()
