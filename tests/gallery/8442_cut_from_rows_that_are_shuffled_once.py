# case: cut_from_rows_that_are_shuffled_once
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7442
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(42)
x = np.random.normal(size=(400, 6)).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("float32")
rows = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(400, seed=1, reshuffle_each_iteration=False)
train = rows.take(300).batch(30)
held = rows.skip(300).batch(30)
model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
model.fit(train, validation_data=held, epochs=4, verbose=0)
first = {row.numpy().tobytes() for batch, _ in held for row in batch}
again = {row.numpy().tobytes() for batch, _ in held for row in batch}
assert first == again
