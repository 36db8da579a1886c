# case: genres_behind_sigmoids
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7405
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)
words = np.random.rand(180, 12).astype("float32")
genres = (words[:, :4] > 0.4).astype("float32")
model = keras.Sequential([
    keras.Input((12,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(4, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
films = tf.data.Dataset.from_tensor_slices((words, genres)).batch(30)
model.fit(films, epochs=3, verbose=0)
found = model.predict(words, verbose=0)
assert found.sum(1).max() > 1
