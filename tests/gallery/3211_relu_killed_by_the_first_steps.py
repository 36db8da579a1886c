# case: relu_killed_by_the_first_steps
# verdict: bug; static: no
# cause: dead-units | exploding-gradient | learning-rate
# expect_line: 20 23 24
# expect_variables: hidden/* (no unit is ever active again)
# symptom_today: silent: the first batches blow up, then no hidden unit is active and only the last bias moves
# exit: 0
# fix: a smaller learning rate (or scaled inputs), or a leaky rectifier
# source: own words, after many reports of a constant loss with ReLU and a large learning rate (dying ReLU)
import numpy as np
import keras

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
income = rng.uniform(1, 40, size=(128, 3)).astype("float32")
price = (income @ [[3.0], [2.0], [1.0]]).astype("float32") - 30.0

model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(10, activation="relu", name="hidden"),
    keras.layers.Dense(1, name="out"),
])
model.compile(keras.optimizers.SGD(learning_rate=0.01), loss="mse")
history = model.fit(income, price, epochs=8, batch_size=32, verbose=0)
hidden = model.get_layer("hidden")(income)
print("loss", history.history["loss"])
print("share of active units", float((hidden.numpy() > 0).mean()))
assert float((hidden.numpy() > 0).mean()) == 0.0
