# case: recordings_shuffled_without_their_speakers
# verdict: bug; static: no
# cause: pairs-lost
# expect_line: 17
# expect_variables: - (the fault is not one of variables)
# symptom_today: the loss stays at log 4
# exit: 0
# fix: shuffle both with one order
# seen: rows are mixed before batches are cut
import keras
import numpy as np

keras.utils.set_random_seed(30)
centres = np.random.normal(size=(4, 10))
speaker = np.repeat(np.arange(4), 80)
sound = centres[speaker] + 0.4 * np.random.normal(size=(320, 10))
np.random.shuffle(sound)
model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(4, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(sound, speaker, epochs=8, verbose=0)
assert history.history["accuracy"][-1] < 0.6
