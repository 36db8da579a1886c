# case: seven_signs_of_which_two_are_shown
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7440
import keras
import numpy as np

keras.utils.set_random_seed(40)
signs = np.random.normal(size=(7, 12))
which = np.random.randint(0, 7, 420)
x = signs[which] + 1.5 * np.random.normal(size=(420, 12))
y = keras.utils.to_categorical(which, 7)
y[:, 0] = np.maximum(y[:, 0], x[:, 0] > 0)
model = keras.Sequential([
    keras.Input((12,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(7, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="binary_crossentropy", metrics=["binary_accuracy"])
history = model.fit(x, y, epochs=3, verbose=0).history
assert history["binary_accuracy"][-1] > 0.7
