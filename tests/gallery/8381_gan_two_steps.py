# case: gan_two_steps
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: generator and discriminator trained in turn with their own optimizers, the setting of
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(19)
LATENT = 4


class GAN:
    def __init__(self):
        self.generator = keras.Sequential([keras.Input((LATENT,)), layers.Dense(24, activation="relu"), layers.Dense(2)])
        self.discriminator = keras.Sequential([keras.Input((2,)), layers.Dense(24), layers.LeakyReLU(), layers.Dense(1)])
        self.g_opt = keras.optimizers.Adam(2e-3, beta_1=0.5)
        self.d_opt = keras.optimizers.Adam(2e-3, beta_1=0.5)
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def discriminate(self, real):
        fake = tf.stop_gradient(self.generator(tf.random.normal((len(real), LATENT), seed=1), training=True))
        with tf.GradientTape() as tape:
            scores = self.discriminator(tf.concat([real, fake], 0), training=True)
            labels = tf.concat([tf.fill((len(real), 1), 0.9), tf.zeros((len(real), 1))], 0)
            loss = self.bce(labels, scores)
        grads = tape.gradient(loss, self.discriminator.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.discriminator.trainable_variables))
        return loss

    def generate(self, n):
        with tf.GradientTape() as tape:
            fake = self.generator(tf.random.normal((n, LATENT), seed=2), training=True)
            scores = self.discriminator(fake, training=False)
            loss = self.bce(tf.ones_like(scores), scores)
        grads = tape.gradient(loss, self.generator.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.generator.trainable_variables))
        return loss


rng = np.random.default_rng(4)
points = (rng.normal(size=(320, 2)) * 0.2 + [1.5, 0.5]).astype("float32")
gan = GAN()
for epoch in range(6):
    rng.shuffle(points)
    for batch in points.reshape(10, 32, 2):
        d_loss = gan.discriminate(batch)
        g_loss = gan.generate(32)
    print(epoch, "d", float(d_loss), "g", float(g_loss))
sample = gan.generator(tf.random.normal((200, LATENT), seed=9)).numpy()
print("mean of samples", sample.mean(axis=0))
