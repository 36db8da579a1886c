# case: genres_behind_a_softmax
# verdict: bug; static: no
# cause: softmax-for-independent-labels
# expect_line: 20
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: at most one genre is ever found
# exit: 0
# fix: sigmoid
# seen: multi-label data with the classifier of a tutorial
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)
words = np.random.rand(180, 12).astype("float32")
genres = (words[:, :4] > 0.4).astype("float32")
model = keras.Sequential([
    keras.Input((12,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(4, activation="softmax"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
films = tf.data.Dataset.from_tensor_slices((words, genres)).batch(30)
model.fit(films, epochs=3, verbose=0)
found = model.predict(words, verbose=0)
assert (found > 0.5).sum(1).max() <= 1
