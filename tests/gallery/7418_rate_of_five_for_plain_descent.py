# case: rate_of_five_for_plain_descent
# verdict: bug; static: no
# cause: learning-rate
# expect_line: 17
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the loss goes up and down, and away
# exit: 0
# fix: a smaller learning rate
# seen: a rate tuned for another loss
import keras
import numpy as np

keras.utils.set_random_seed(18)
x = np.random.normal(size=(256, 3)).astype("float32")
y = np.sin(x[:, :1]) + x[:, 1:2] ** 2
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(learning_rate=5.0), loss="mse")
log = model.fit(x, y, epochs=4, verbose=0)
assert not log.history["loss"][-1] < y.var()
