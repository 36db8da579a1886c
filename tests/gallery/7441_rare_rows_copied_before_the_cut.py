# case: rare_rows_copied_before_the_cut
# verdict: bug; static: no
# cause: validation-leaks-into-training
# expect_line: 36
# expect_variables: - (the fault is not one of variables)
# symptom_today: a validation that is too good
# exit: 0
# fix: copy after the cut
# seen: oversampling first
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)
x = rng.normal(size=(400, 8))
y = (x[:, 0] + x[:, 1] > 1.6).astype("float32")


def balanced(a, b):
    rare = np.flatnonzero(b == 1)
    rows = rng.permutation(np.concatenate([np.arange(len(b)), rng.choice(rare, 250)]))
    return a[rows], b[rows]


x, y = balanced(x, y)
x_train, y_train, x_held, y_held = x[:480], y[:480], x[480:], y[480:]
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(32)
held = tf.data.Dataset.from_tensor_slices((x_held, y_held)).batch(32)
model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train, validation_data=held, epochs=4, verbose=0)
shared = len(set(map(bytes, x_train)) & set(map(bytes, x_held)))
assert shared > 20
