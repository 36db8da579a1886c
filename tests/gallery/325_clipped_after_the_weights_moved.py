# case: clipped_after_the_weights_moved
# verdict: bug
# cause: clip-unused
# expect_line: 27
# expect_variables: -
# symptom_today: trains without any clipping; now and then the loss jumps
# exit: 0
# fix: clip before `apply_gradients`, and apply the clipped ones
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(21)
reader = keras.Sequential([keras.layers.Input((6, 2)), keras.layers.GRU(4), keras.layers.Dense(1)])
optimizer = keras.optimizers.RMSprop(0.01)
series = np.random.default_rng(1).normal(size=(24, 6, 2)).astype("float32")
following = series.sum(axis=(1, 2))[:, None]


def learn(window, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(reader(window, training=True) - target))
    weights = reader.trainable_variables
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(gradients, weights))
    # too late: the weights have moved already
    gradients = [tf.clip_by_norm(g, 1.0) for g in gradients]
    return loss


for start in range(0, 24, 8):
    learn(series[start : start + 8], following[start : start + 8])
