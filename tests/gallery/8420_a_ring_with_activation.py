# case: a_ring_with_activation
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7420
import keras
import numpy as np

keras.utils.set_random_seed(20)
x = np.random.uniform(-1.4, 1.4, size=(400, 2)).astype("float32")
y = (np.hypot(x[:, 0], x[:, 1]) < 1.1).astype("float32")
bend = "relu"
model = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(32, activation=bend),
    keras.layers.Dense(32, activation=bend),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(x, y, epochs=10, verbose=0)
assert log.history["accuracy"][-1] > 0.7
