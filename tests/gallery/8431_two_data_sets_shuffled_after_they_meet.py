# case: two_data_sets_shuffled_after_they_meet
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7431
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(31)
centres = np.random.normal(size=(3, 8)).astype("float32")
kind = np.random.randint(0, 3, 300)
leaf = centres[kind] + 0.3 * np.random.normal(size=(300, 8)).astype("float32")
leaves = tf.data.Dataset.from_tensor_slices(leaf)
kinds = tf.data.Dataset.from_tensor_slices(kind)
train = tf.data.Dataset.zip((leaves, kinds)).shuffle(300).batch(30)
model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(3, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=8, verbose=0)
assert model.evaluate(leaf, kind, verbose=0)[1] > 0.9
