# case: pixels_cut_off_to_whole_numbers
# verdict: bug; static: no
# cause: predictions-collapsed
# expect_line: 16 23
# expect_variables: - (the fault is not one of variables)
# symptom_today: the same answer for every picture
# exit: 0
# fix: scale without the cast
# seen: a cast copied from somewhere
import keras
import numpy as np

keras.utils.set_random_seed(44)
pixels = np.random.randint(0, 255, size=(320, 16))
y = (pixels[:, :8].mean(1) > pixels[:, 8:].mean(1)).astype("float32")
x = (pixels / 255.0).astype("int32").astype("float32")
model = keras.Sequential([
    keras.Input((16,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
model.fit(x, y, epochs=5, verbose=0)
assert np.ptp(model.predict(x, verbose=0)) == 0
