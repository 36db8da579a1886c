# case: wgan_gp_fit
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: the Keras 3 version of the WGAN-GP example with a custom train_step
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)


class WGAN(keras.Model):
    def __init__(self, latent=3, critic_steps=2, gp_weight=10.0):
        super().__init__()
        self.latent, self.critic_steps, self.gp_weight = latent, critic_steps, gp_weight
        self.critic = keras.Sequential([keras.Input((2,)), layers.Dense(24, activation="tanh"), layers.Dense(1)])
        self.generator = keras.Sequential([keras.Input((latent,)), layers.Dense(24, activation="relu"), layers.Dense(2)])

    def compile(self, c_optimizer, g_optimizer):
        super().compile()
        self.c_optimizer, self.g_optimizer = c_optimizer, g_optimizer

    def penalty(self, real, fake):
        alpha = tf.random.uniform((tf.shape(real)[0], 1), seed=5)
        mixed = real + alpha * (fake - real)
        with tf.GradientTape() as inner:
            inner.watch(mixed)
            score = self.critic(mixed, training=True)
        slope = inner.gradient(score, mixed)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1) + 1e-12)
        return tf.reduce_mean(tf.square(norm - 1.0))

    def train_step(self, real):
        n = tf.shape(real)[0]
        for _ in range(self.critic_steps):
            fake = self.generator(tf.random.normal((n, self.latent), seed=1), training=True)
            with tf.GradientTape() as tape:
                w = tf.reduce_mean(self.critic(fake, training=True)) - tf.reduce_mean(self.critic(real, training=True))
                c_loss = w + self.gp_weight * self.penalty(real, fake)
            grads = tape.gradient(c_loss, self.critic.trainable_variables)
            self.c_optimizer.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            fake = self.generator(tf.random.normal((n, self.latent), seed=2), training=True)
            g_loss = -tf.reduce_mean(self.critic(fake, training=True))
        grads = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_variables))
        return {"c_loss": c_loss, "g_loss": g_loss}


rng = np.random.default_rng(1)
points = (rng.normal(size=(256, 2)) * 0.3 + [1.0, -1.0]).astype("float32")
gan = WGAN()
gan.compile(keras.optimizers.Adam(2e-3, beta_1=0.5), keras.optimizers.Adam(2e-3, beta_1=0.5))
history = gan.fit(points, epochs=8, batch_size=64, verbose=0)
print({k: (round(float(v[0]), 3), round(float(v[-1]), 3)) for k, v in history.history.items()})
