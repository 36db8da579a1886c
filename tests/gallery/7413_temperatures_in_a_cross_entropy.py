# case: temperatures_in_a_cross_entropy
# verdict: bug; static: no
# cause: loss-does-not-fit-task
# expect_line: 21
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the loss falls below zero
# exit: 0
# fix: mse, and no activation
# seen: the loss of the tutorial for images
import keras
import numpy as np

keras.utils.set_random_seed(13)
x = np.random.normal(size=(120, 3)).astype("float32")
celsius = 12.0 + 4.0 * x[:, :1]
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(8, activation="tanh"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, celsius, epochs=3, verbose=0)
assert model.predict(x, verbose=0).max() <= 1.0
