# case: mdn_logsumexp
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains, also with a gross outlier
# exit: 0
# fix: -
# source: own; the stable form of keras-team/keras#1061
import math
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)


def mixture_nll(y_true, params):
    mix, centre, spread = tf.split(params, 3, axis=-1)
    gap = (y_true - centre) * tf.exp(-spread)
    log_density = -0.5 * tf.square(gap) - spread - 0.5 * math.log(2.0 * math.pi)
    return -tf.reduce_logsumexp(tf.nn.log_softmax(mix) + log_density, axis=-1)


rng = np.random.default_rng(4)
x = rng.uniform(-2, 2, size=(96, 1)).astype("float32")
y = (np.sin(2 * x) + 0.1 * rng.normal(size=x.shape)).astype("float32")
y[50] = 45.0

mdn = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(9)])
mdn.compile(optimizer=keras.optimizers.Adam(1e-2), loss=mixture_nll)
history = mdn.fit(x, y, batch_size=16, epochs=10, verbose=0).history["loss"]
assert np.isfinite(history).all() and history[-1] < history[0]
print("ok", history[0], history[-1])
