# case: eight_layers_of_rectifiers
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7436
import keras
import numpy as np

keras.utils.set_random_seed(36)
kind = np.random.randint(0, 4, 400)
x = np.random.normal(size=(4, 6))[kind] * 1.5 + 0.5 * np.random.normal(size=(400, 6))
model = keras.Sequential([keras.Input((6,))])
for _ in range(8):
    model.add(keras.layers.Dense(20, activation="relu"))
model.add(keras.layers.Dense(4, activation="softmax"))
model.compile(optimizer=keras.optimizers.SGD(0.05), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, kind, epochs=15, batch_size=20, verbose=0)
assert history.history["accuracy"][-1] > 0.8
