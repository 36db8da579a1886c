# case: great_circle_distance_of_a_perfect_guess
# verdict: bug; static: no
# cause: nan-sqrt
# expect_line: 19
# expect_variables: locator/*
# symptom_today: silent: the loss is finite, every weight is NaN after the first step
# exit: 0
# fix: tf.sqrt(tf.maximum(a, 1e-12)), or optimise the squared chord
# seen: GPS regressions with a haversine loss
import keras
import numpy as np
import tensorflow as tf


def haversine(y_true, y_pred):
    lat1, lon1 = tf.unstack(y_true, axis=-1)
    lat2, lon2 = tf.unstack(y_pred, axis=-1)
    a = tf.sin((lat2 - lat1) / 2.0) ** 2 + tf.cos(lat1) * tf.cos(lat2) * tf.sin((lon2 - lon1) / 2.0) ** 2
    return 6371.0 * 2.0 * tf.asin(tf.sqrt(a))


locator = keras.Sequential(
    [keras.layers.Input((3,)), keras.layers.Dense(2, kernel_initializer="zeros")], name="locator")
locator.compile(optimizer=keras.optimizers.Adam(1e-4), loss=haversine)
rng = np.random.default_rng(0)
signals = rng.normal(size=(32, 3)).astype("float32")
places = (0.1 * rng.normal(size=(32, 2))).astype("float32")
places[7] = 0.0  # the office, where the network starts
loss = locator.fit(signals, places, epochs=1, batch_size=32, verbose=0).history["loss"]
assert np.isfinite(loss[0]) and np.isnan(locator.get_weights()[0]).any()
