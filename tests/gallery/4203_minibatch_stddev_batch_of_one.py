# case: minibatch_stddev_batch_of_one
# verdict: bug; static: no
# cause: nan-std | nan-sqrt
# expect_line: 19
# expect_variables: conv2d/* (dense/* follows in the second step)
# symptom_today: silent: loss nan
# exit: 0
# fix: tf.sqrt(tf.math.reduce_variance(x, 0) + 1e-8)
# source: tensorflow/tensorflow#56830 (reduce_std of one element: gradient nan), keras-team/keras#2960 (K.std gives a non-finite gradient for a constant input)
import numpy as np
import tensorflow as tf
import keras


class MinibatchStdDev(keras.layers.Layer):
    """Progressive-GAN trick: one more channel that holds the spread of the batch."""

    def call(self, images):
        spread = tf.math.reduce_std(images, axis=0, keepdims=True)
        level = tf.reduce_mean(spread)
        channel = tf.ones_like(images[..., :1]) * level
        return tf.concat([images, channel], axis=-1)


keras.utils.set_random_seed(2)
disc = keras.Sequential([
    keras.layers.Input((8, 8, 1)),
    keras.layers.Conv2D(4, 3, activation="leaky_relu"),
    MinibatchStdDev(),
    keras.layers.Flatten(),
    keras.layers.Dense(1),
])
disc.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
rng = np.random.default_rng(0)
images = rng.normal(size=(12, 8, 8, 1)).astype("float32")
labels = rng.integers(0, 2, size=(12, 1)).astype("float32")
# memory is short on the training machine, so one image at a time
log = disc.fit(images, labels, batch_size=1, epochs=1, verbose=0).history
print(log)
assert np.isnan(log["loss"][0])
