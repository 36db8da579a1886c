# case: wasserstein_with_gradient_penalty_in_fit
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: WGAN-GP as a keras.Model with two optimizers
import keras
import numpy as np
import tensorflow as tf


class WGAN(keras.Model):
    def __init__(self, latent=2):
        super().__init__()
        self.latent = latent
        self.gen = keras.Sequential([keras.layers.Input((latent,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
        self.critic = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])

    def compile(self, gen_opt, critic_opt):
        super().compile()
        self.gen_opt, self.critic_opt = gen_opt, critic_opt

    def penalty(self, real, fake):
        mix = tf.random.uniform((tf.shape(real)[0], 1))
        between = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = self.critic(between, training=True)
        slope = inner.gradient(score, between)
        return tf.reduce_mean((tf.sqrt(tf.reduce_sum(slope**2, 1) + 1e-12) - 1.0) ** 2)

    def train_step(self, real):
        noise = tf.random.normal((tf.shape(real)[0], self.latent))
        for _ in range(2):
            with tf.GradientTape() as tape:
                fake = self.gen(noise, training=True)
                loss = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real)) + 10.0 * self.penalty(real, fake)
            grads = tape.gradient(loss, self.critic.trainable_variables)
            self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            gen_loss = -tf.reduce_mean(self.critic(self.gen(noise, training=True)))
        grads = tape.gradient(gen_loss, self.gen.trainable_variables)
        self.gen_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return {"critic": loss, "gen": gen_loss}


gan = WGAN()
gan.compile(keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3))
before = gan.gen.get_weights()[0].copy()
gan.fit(np.random.default_rng(0).normal(size=(64, 2)).astype("float32"), epochs=1, batch_size=32, verbose=0)
assert not np.array_equal(before, gan.gen.get_weights()[0])
