# case: features_logged_before_the_step
# verdict: bug
# cause: nan-log
# expect_line: 23
# expect_variables: -
# symptom_today: silent: the loss is NaN from the first step on
# exit: 0
# fix: tf.math.log1p(counts), or tf.math.log(counts + 1.0)
# source: own words, after questions about counts that are logged in front of a network
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
net = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
counts = np.random.default_rng(3).poisson(1.0, size=(64, 5)).astype("float32")
target = counts.sum(axis=1, keepdims=True)
weights = net.trainable_variables

for start in range(0, 64, 16):
    rows = tf.constant(counts[start : start + 16])
    features = tf.math.log(rows)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(features) - target[start : start + 16]))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
print(float(loss))
