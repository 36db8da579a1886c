# case: zero_inflated_counts
# verdict: bug; static: yes
# cause: nan-where
# expect_line: 27 26
# expect_variables: dense/*, rate/* (trunk and rate)
# symptom_today: silent: the loss of the first step is finite, the weights are NaN after it
# exit: 0
# fix: make the branch not taken safe as well: take the logarithm of tf.where(count > 0, rate, 1.0)
# source: own words, after reports on zero-inflated likelihoods in Keras (loss fine, gradients NaN)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
trunk = keras.layers.Dense(12, activation="relu")
rate_layer = keras.layers.Dense(1, activation="relu", name="rate")
zero_layer = keras.layers.Dense(1, activation="sigmoid", name="zero")
genes = keras.Input((7,))
h = trunk(genes)
model = keras.Model(genes, [rate_layer(h), zero_layer(h)])
opt = keras.optimizers.Adam(1e-2)


def zip_nll(count, rate, p_zero):
    at_zero = -tf.math.log(p_zero + (1.0 - p_zero) * tf.exp(-rate) + 1e-8)
    above = rate - count * tf.math.log(rate) + tf.math.lgamma(count + 1.0) - tf.math.log(1.0 - p_zero + 1e-8)
    return tf.reduce_mean(tf.where(count > 0.0, above, at_zero))


rng = np.random.default_rng(0)
x = rng.uniform(0.5, 1.5, size=(40, 7)).astype("float32")
x[::2] = 0.0
y = np.where(np.arange(40) % 2 == 0, 0, rng.poisson(2.0, 40) + 1).astype("float32")[:, None]
rate_layer.kernel.assign(np.abs(rate_layer.kernel.numpy()))
for step in range(3):
    with tf.GradientTape() as tape:
        rate, p_zero = model(x, training=True)
        loss = zip_nll(y, rate, p_zero)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    print(step, float(loss), [bool(tf.reduce_any(tf.math.is_nan(g))) for g in grads])
assert np.isnan(model.get_weights()[0]).any()
