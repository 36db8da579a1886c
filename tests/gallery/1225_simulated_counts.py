# case: simulated_counts
# verdict: bug; static: yes
# cause: non-reparameterised-sample | no-registered-gradient
# expect_line: 29
# expect_variables: intensity/* (no gradient)
# symptom_today: raises LookupError: gradient registry has no entry for: RandomPoissonV2
# exit: 1 (LookupError)
# fix: use the likelihood (keras.losses.Poisson on the rate) or a score-function estimator
# source: derived from tensorflow/probability#1534 (no gradient through draws of a discrete variable) and thu-ml/zhusuan#72 (how do gradients reach the parameters of a distribution)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
hour = rng.uniform(0, 24, size=(64, 1)).astype("float32")
calls = rng.poisson(3.0 + 2.0 * np.sin(hour / 4)).astype("float32")

intensity = keras.Sequential([
    keras.layers.Input((1,)),
    keras.layers.Rescaling(1 / 24),
    keras.layers.Dense(16, activation="tanh"),
    keras.layers.Dense(1, activation="softplus"),
], name="intensity")
opt = keras.optimizers.Adam(1e-2)


def simulate(rate, runs=8):
    draws = tf.random.poisson([runs], rate, seed=1)
    return tf.reduce_mean(draws, axis=0)


@tf.function
def fit_simulator(x, observed):
    with tf.GradientTape() as tape:
        rate = intensity(x, training=True)
        loss = tf.reduce_mean(tf.square(simulate(rate) - observed))
    grads = tape.gradient(loss, intensity.trainable_variables)
    opt.apply_gradients(zip(grads, intensity.trainable_variables))
    return loss


for epoch in range(3):
    print(epoch, float(fit_simulator(hour, calls)))
