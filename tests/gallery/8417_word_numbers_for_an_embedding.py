# case: word_numbers_for_an_embedding
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7417
import keras
import numpy as np

keras.utils.set_random_seed(17)
words = np.random.randint(0, 50, size=(120, 8))
y = (words[:, 0] > 25).astype("float32")
x = words
model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Embedding(50, 6),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)
assert model.predict(x, verbose=0).std() > 1e-6
