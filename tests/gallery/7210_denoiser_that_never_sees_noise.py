# case: denoiser_that_never_sees_noise
# verdict: bug; static: no
# cause: training-flag
# expect_line: 32
# expect_variables: - (noise and dropout are never active in denoiser/*)
# symptom_today: silent: the autoencoder copies its input, the noise layer does nothing
# exit: 0
# fix: denoiser(x, training=True)
# source: own words, after reports on GaussianNoise and Dropout in custom loops
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)
denoiser = keras.Sequential([
    keras.Input((20,)),
    layers.GaussianNoise(0.5),
    layers.Dense(32, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(20),
], name="denoiser")
opt = keras.optimizers.Adam(3e-3)
rng = np.random.default_rng(0)
waves = np.sin(rng.uniform(0, 6, (96, 1)) + np.linspace(0, 6, 20)).astype("float32")
data = tf.data.Dataset.from_tensor_slices(waves).shuffle(96, seed=1).batch(24)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        clean = denoiser(x)
        loss = tf.reduce_mean(tf.square(clean - x))
    grads = tape.gradient(loss, denoiser.trainable_weights)
    opt.apply_gradients(zip(grads, denoiser.trainable_weights))
    return loss


for epoch in range(5):
    for batch in data:
        loss = update(batch)
    print(epoch, float(loss))
a, b = denoiser(waves[:4]), denoiser(waves[:4])
assert np.array_equal(a, b)
