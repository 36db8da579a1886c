# case: missing_labels_replaced_first
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the NaN labels never meet the prediction
# exit: 0
# fix: -
# source: own; the right form of keras-team/keras#1628
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def masked_mse(y_true, y_pred):
    known = tf.math.is_finite(y_true)
    safe = tf.where(known, y_true, tf.zeros_like(y_true))
    weight = tf.cast(known, y_pred.dtype)
    squared = tf.square(y_pred - safe) * weight
    return tf.math.divide_no_nan(tf.reduce_sum(squared, axis=-1), tf.reduce_sum(weight, axis=-1))


rng = np.random.default_rng(0)
molecules = rng.normal(size=(60, 12)).astype("float32")
assays = (molecules @ rng.normal(size=(12, 3))).astype("float32")
assays[rng.uniform(size=assays.shape) < 0.25] = np.nan
assays[7] = np.nan                                        # nothing known at all
net = keras.Sequential([keras.layers.Input((12,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
net.compile(optimizer=keras.optimizers.Adam(1e-2), loss=masked_mse)
log = net.fit(molecules, assays, batch_size=20, epochs=12, verbose=0).history["loss"]
assert np.isfinite(log).all() and log[-1] < log[0]
print("ok", log[0], log[-1])
