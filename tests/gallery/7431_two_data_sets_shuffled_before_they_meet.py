# case: two_data_sets_shuffled_before_they_meet
# verdict: bug; static: no
# cause: pairs-lost
# expect_line: 18 19 20
# expect_variables: - (the fault is not one of variables)
# symptom_today: accuracy as by chance
# exit: 0
# fix: zip first, then shuffle
# seen: inputs and labels come from different files
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(31)
centres = np.random.normal(size=(3, 8)).astype("float32")
kind = np.random.randint(0, 3, 300)
leaf = centres[kind] + 0.3 * np.random.normal(size=(300, 8)).astype("float32")
leaves = tf.data.Dataset.from_tensor_slices(leaf).shuffle(300)
kinds = tf.data.Dataset.from_tensor_slices(kind).shuffle(300)
train = tf.data.Dataset.zip((leaves, kinds)).batch(30)
model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(3, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=8, verbose=0)
assert model.evaluate(leaf, kind, verbose=0)[1] < 0.7
