# case: word_numbers_divided_by_the_vocabulary
# verdict: bug; static: no
# cause: unscaled-data
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: all reviews look the same
# exit: 0
# fix: hand in the numbers themselves
# seen: scaling that was right for another network
import keras
import numpy as np

keras.utils.set_random_seed(17)
words = np.random.randint(0, 50, size=(120, 8))
y = (words[:, 0] > 25).astype("float32")
x = words / 50.0
model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Embedding(50, 6),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)
assert model.predict(x, verbose=0).std() < 1e-6
