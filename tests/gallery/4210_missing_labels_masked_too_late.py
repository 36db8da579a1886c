# case: missing_labels_masked_too_late
# verdict: bug; static: no
# cause: nan-where | nan-data
# expect_line: 18 17
# expect_variables: - (the data; net/* is NaN after the first step)
# symptom_today: silent: first loss finite, then nan
# exit: 0
# fix: replace the missing labels before subtracting: safe = tf.where(known, y_true, y_pred)
# source: keras-team/keras#1628 (outputs with missing values: tf.where(is_nan(y_true), 0, square(y_pred - y_true)) proposed as the loss), pytorch/pytorch#64305 (the same two ways of masking; masking after the square gives nan gradients)
import numpy as np
import tensorflow as tf
import keras


class MissingTolerantMSE(keras.losses.Loss):
    def call(self, y_true, y_pred):
        squared = tf.square(y_pred - y_true)
        kept = tf.where(tf.math.is_nan(y_true), tf.zeros_like(squared), squared)
        return tf.reduce_sum(kept, axis=-1)


keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
molecules = rng.normal(size=(60, 12)).astype("float32")
assays = (molecules @ rng.normal(size=(12, 3))).astype("float32")
assays[rng.uniform(size=assays.shape) < 0.25] = np.nan          # a quarter was never measured

net = keras.Sequential([keras.layers.Input((12,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)], name="net")
net.compile(optimizer="adam", loss=MissingTolerantMSE())
first = net.evaluate(molecules, assays, verbose=0)
net.fit(molecules, assays, batch_size=20, epochs=1, verbose=0)
print("loss before training", first, "weights finite after one epoch:", all(np.isfinite(w).all() for w in net.get_weights()))
assert np.isfinite(first) and not np.isfinite(net.get_weights()[0]).all()
