# case: loss_over_a_share_that_numpy_counts
# verdict: bug; static: no
# cause: nan-division
# expect_line: 22
# expect_variables: -
# symptom_today: the loss is NaN from the first batch without a positive label on
# exit: 0
# fix: tf.math.divide_no_nan(error, share)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


def positive_share(labels):
    return np.float32((labels > 0.5).mean())


def balanced(y_true, y_pred):
    share = tf.ensure_shape(tf.numpy_function(positive_share, [y_true], tf.float32), ())
    return tf.reduce_mean(y_true * tf.square(y_true - y_pred)) / share + tf.reduce_mean(tf.square(y_pred))


model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=balanced)
x = np.random.default_rng(1).normal(size=(64, 3)).astype("float32")
y = (np.arange(64) < 40).astype("float32")[:, None]
print(model.fit(x, y, epochs=2, batch_size=8, verbose=0, shuffle=False).history["loss"])
