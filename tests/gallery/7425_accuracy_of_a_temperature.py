# case: accuracy_of_a_temperature
# verdict: bug; static: no
# cause: metric-not-of-this-output
# expect_line: 17
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: accuracy 0.0 at every epoch
# exit: 0
# fix: mae
# seen: metrics=['accuracy'] by habit
import keras
import numpy as np

keras.utils.set_random_seed(25)
x = np.random.normal(size=(128, 3)).astype("float32")
y = 0.7 * x[:, 0] - 0.2 * x[:, 1] * x[:, 2]
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["accuracy"])
log = model.fit(x, y, epochs=3, verbose=0)
assert "accuracy" in log.history
