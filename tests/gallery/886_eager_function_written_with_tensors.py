# case: eager_function_written_with_tensors
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: tf.py_function used for Python control flow, with TensorFlow inside
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


def longest_run(values):
    total = tf.constant(0.0)
    for v in values:
        if float(v[0]) > 0.0:
            total = total + v[0] * v[1]
        else:
            total = total - 0.1 * v[1] ** 2
    return total / tf.cast(len(values), tf.float32)


def run_loss(y_true, y_pred):
    extra = tf.py_function(longest_run, [y_pred], tf.float32)
    extra.set_shape(())
    return tf.reduce_mean((y_true - y_pred) ** 2) + 0.1 * extra


model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=run_loss)
x = np.random.default_rng(1).normal(size=(32, 3)).astype("float32")
losses = model.fit(x, x[:, :2], epochs=4, batch_size=8, verbose=0).history["loss"]
assert losses[-1] < losses[0]
