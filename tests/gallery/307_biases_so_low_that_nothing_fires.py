# case: biases_so_low_that_nothing_fires
# verdict: bug; static: no
# cause: dead-units | zero-gradient-op | vanishing-gradient
# expect_line: 18
# expect_variables: hidden/*
# symptom_today: silent: the hidden layer gives zero for every input; only the last bias trains
# exit: 0
# fix: start the biases at zero
# seen: a bias initialiser meant for the output given to the hidden layer
import keras
import numpy as np

keras.utils.set_random_seed(0)
prior = keras.initializers.Constant(-9.0)
net = keras.Sequential(
    [
        keras.layers.Input((4,)),
        keras.layers.Dense(16, activation="relu", bias_initializer=prior, name="hidden"),
        keras.layers.Dense(1, activation="sigmoid", name="answer"),
    ]
)
net.compile(optimizer=keras.optimizers.SGD(0.1), loss="binary_crossentropy")
x = np.random.default_rng(0).uniform(-1, 1, size=(120, 4)).astype("float32")
y = (x.sum(axis=1) > 0).astype("float32")[:, None]
start = net.get_layer("hidden").get_weights()[0].copy()
net.fit(x, y, epochs=4, batch_size=20, verbose=0)
assert np.array_equal(start, net.get_layer("hidden").get_weights()[0])
print("no unit fires")
