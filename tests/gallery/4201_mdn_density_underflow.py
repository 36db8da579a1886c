# case: mdn_density_underflow
# verdict: bug; static: no
# cause: nan-log
# expect_line: 26 24
# expect_variables: mdn/* (all become NaN after the first batch that holds an outlier)
# symptom_today: silent: loss nan from the first epoch on (the batch with the outlier has loss inf)
# exit: 0
# fix: add the log densities with tf.reduce_logsumexp instead of taking the log of their sum
# source: keras-team/keras#1061 (mixture density network: loss goes to inf, then nan), keras-team/keras#2586 (nan after about ten updates)
import math
import numpy as np
import tensorflow as tf
import keras

COMPONENTS = 3
keras.utils.set_random_seed(1)


def mixture_nll(y_true, params):
    mix, centre, spread = tf.split(params, 3, axis=-1)
    mix = tf.nn.softmax(mix)
    sigma = tf.exp(spread)
    gap = (y_true - centre) / sigma
    density = tf.exp(-0.5 * tf.square(gap)) / (sigma * math.sqrt(2.0 * math.pi))
    likelihood = tf.reduce_sum(mix * density, axis=-1)
    return -tf.math.log(likelihood)


rng = np.random.default_rng(4)
x = rng.uniform(-2, 2, size=(96, 1)).astype("float32")
y = (np.sin(2 * x) + 0.1 * rng.normal(size=x.shape)).astype("float32")
y[50] = 45.0                                   # one gross outlier, as real measurements have

mdn = keras.Sequential([
    keras.layers.Input((1,)),
    keras.layers.Dense(12, activation="tanh"),
    keras.layers.Dense(3 * COMPONENTS),
], name="mdn")
mdn.compile(optimizer=keras.optimizers.Adam(1e-2), loss=mixture_nll)
history = mdn.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"]
print("loss per epoch", history)
assert np.isnan(history[-1])
