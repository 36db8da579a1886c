# case: divergence_of_two_histograms
# verdict: bug; static: yes
# cause: nan-log
# expect_line: 23
# expect_variables: sharp/*
# symptom_today: silent: the loss is NaN in the first step (a bin is empty)
# exit: 0
# fix: use tf.math.xlogy / add epsilon before the logarithm: 0 * log(0) has no gradient
# source: vicwer/C3AE_Age_Estimation#10 (kl_loss is NaN) and own words
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
sharp = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6), keras.layers.ReLU()], name="sharp")
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((10, 4), seed=3)
target = tf.constant(np.random.default_rng(0).dirichlet(np.ones(6), 10), tf.float32)


def jensen_shannon(p, q):
    m = 0.5 * (p + q)
    left = p * tf.math.log(p / m)
    right = q * tf.math.log(q / m)
    return tf.reduce_mean(tf.reduce_sum(0.5 * left + 0.5 * right, -1))


for it in range(3):
    with tf.GradientTape() as tape:
        mass = sharp(x) + 0.0
        p = mass / (tf.reduce_sum(mass, -1, keepdims=True) + 1e-6)
        loss = jensen_shannon(p, target)
    grads = tape.gradient(loss, sharp.trainable_variables)
    opt.apply_gradients(zip(grads, sharp.trainable_variables))
    print(it, float(loss), [bool(tf.reduce_any(tf.math.is_nan(g))) for g in grads])
assert np.isnan(sharp.get_weights()[0]).any()
