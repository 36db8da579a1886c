# case: adversarial_pair_in_legacy_keras
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a GAN with its own train_step on tf_keras
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(4)


class GAN(tf_keras.Model):
    def __init__(self, latent=3):
        super().__init__()
        self.latent = latent
        self.generator = tf_keras.Sequential([layers.Dense(12, activation="relu"), layers.Dense(2)])
        self.discriminator = tf_keras.Sequential(
            [layers.Dense(12), layers.LeakyReLU(0.2), layers.Dropout(0.1), layers.Dense(1)])
        self.g_metric, self.d_metric = tf_keras.metrics.Mean("g_loss"), tf_keras.metrics.Mean("d_loss")

    def compile(self, g_optimizer, d_optimizer):
        super().compile()
        self.g_optimizer, self.d_optimizer = g_optimizer, d_optimizer
        self.bce = tf_keras.losses.BinaryCrossentropy(from_logits=True)

    @property
    def metrics(self):
        return [self.g_metric, self.d_metric]

    def train_step(self, real):
        batch = tf.shape(real)[0]
        fake = self.generator(tf.random.normal((batch, self.latent)))
        both = tf.concat([fake, real], axis=0)
        labels = tf.concat([tf.ones((batch, 1)), tf.zeros((batch, 1))], axis=0)
        labels += 0.05 * tf.random.uniform(tf.shape(labels))
        with tf.GradientTape() as tape:
            d_loss = self.bce(labels, self.discriminator(both, training=True))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))
        with tf.GradientTape() as tape:
            verdict = self.discriminator(self.generator(tf.random.normal((batch, self.latent)), training=True))
            g_loss = self.bce(tf.zeros((batch, 1)), verdict)
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.g_metric.update_state(g_loss)
        self.d_metric.update_state(d_loss)
        return {m.name: m.result() for m in self.metrics}


gan = GAN()
gan.compile(tf_keras.optimizers.Adam(1e-3), tf_keras.optimizers.Adam(1e-3))
points = np.random.default_rng(4).normal(loc=3.0, size=(128, 2)).astype("float32")
history = gan.fit(points, batch_size=32, epochs=3, verbose=0).history
print(history)
assert np.isfinite(history["g_loss"]).all()
