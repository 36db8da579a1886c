# case: recordings_shuffled_with_their_speakers
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7430
import keras
import numpy as np

keras.utils.set_random_seed(30)
centres = np.random.normal(size=(4, 10))
speaker = np.repeat(np.arange(4), 80)
sound = centres[speaker] + 0.4 * np.random.normal(size=(320, 10))
order = np.random.permutation(320)
sound, speaker = sound[order], speaker[order]
model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(4, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(sound, speaker, epochs=8, verbose=0)
assert history.history["accuracy"][-1] > 0.9
