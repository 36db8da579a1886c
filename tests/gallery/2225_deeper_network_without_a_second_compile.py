# case: deeper_network_without_a_second_compile
# verdict: bug; static: no
# cause: optimizer-variable-mismatch
# expect_line: 28 25 26
# expect_variables: grown/*, new_output/*
# symptom_today: silent: fit goes on with the old train function, the popped output layer is trained and the new layers never move
# exit: 0
# fix: compile again after the layers were added
# source: keras-team/keras#2853, keras-team/keras#4549, keras-team/keras#6405 (layers changed after compile)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(15)
x = np.random.default_rng(0).normal(size=(96, 4)).astype("float32")
y = (x[:, :1] * x[:, 1:2]).astype("float32")

model = keras.Sequential([layers.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
first = model.fit(x, y, epochs=3, verbose=0)
print("shallow:", first.history["loss"][-1])

# grow: take the output layer off, put two more layers on
model.pop()
model.add(layers.Dense(8, activation="relu", name="grown"))
model.add(layers.Dense(1, name="new_output"))
before = [w.copy() for w in model.get_weights()]
second = model.fit(x, y, epochs=3, verbose=0)
print("deeper:", second.history["loss"][-1], "evaluated:", model.evaluate(x, y, verbose=0))
assert all(np.array_equal(a, b) for a, b in zip(before[2:], model.get_weights()[2:]))
