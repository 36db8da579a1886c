# case: gan_discriminator_bce
# verdict: bug
# cause: loss-arguments-swapped
# expect_line: 29 30
# expect_variables: -
# symptom_today: labels given as logits and logits as labels to a cross entropy, the comment of 2017-11-13 in
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(15)
LATENT = 3
bce = keras.losses.BinaryCrossentropy()

generator = keras.Sequential([keras.Input((LATENT,)), layers.Dense(16, activation="relu"), layers.Dense(2)])
discriminator = keras.Sequential([
    keras.Input((2,)),
    layers.Dense(16, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
g_opt = keras.optimizers.Adam(1e-3)
d_opt = keras.optimizers.Adam(1e-3)


def discriminator_loss(real_prob, fake_prob):
    real = bce(real_prob, tf.ones_like(real_prob) * 0.9)
    fake = bce(fake_prob, tf.zeros_like(fake_prob))
    return real + fake


def generator_loss(fake_prob):
    return bce(tf.ones_like(fake_prob), fake_prob)


@tf.function
def train_step(real):
    noise = tf.random.normal((tf.shape(real)[0], LATENT), seed=2)
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        fake_prob = discriminator(fake, training=True)
        d_loss = discriminator_loss(discriminator(real, training=True), fake_prob)
        g_loss = generator_loss(fake_prob)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return g_loss, d_loss, tf.linalg.global_norm(d_grads)


rng = np.random.default_rng(3)
ring = rng.normal(size=(600, 2)).astype("float32")
ring /= np.linalg.norm(ring, axis=1, keepdims=True)
for epoch in range(10):
    for batch in tf.data.Dataset.from_tensor_slices(ring).batch(60):
        g_loss, d_loss, norm = train_step(batch)
    if epoch % 3 == 0:
        print(epoch, "g", float(g_loss), "d", float(d_loss), "d grad norm", float(norm))
