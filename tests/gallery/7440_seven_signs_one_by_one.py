# case: seven_signs_one_by_one
# verdict: bug; static: no
# cause: sigmoid-for-exclusive-classes
# expect_line: 21 23
# expect_variables: - (the fault is not one of variables)
# symptom_today: an accuracy of 86 % for a model that knows nothing
# exit: 0
# fix: softmax
# seen: a loss copied from a problem with several labels
import keras
import numpy as np

keras.utils.set_random_seed(40)
signs = np.random.normal(size=(7, 12))
which = np.random.randint(0, 7, 420)
x = signs[which] + 1.5 * np.random.normal(size=(420, 12))
y = keras.utils.to_categorical(which, 7)
model = keras.Sequential([
    keras.Input((12,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(7, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="binary_crossentropy", metrics=["binary_accuracy"])
history = model.fit(x, y, epochs=3, verbose=0).history
assert history["binary_accuracy"][-1] > 0.7
