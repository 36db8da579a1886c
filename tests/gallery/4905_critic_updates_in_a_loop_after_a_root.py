# case: critic_updates_in_a_loop_after_a_root
# verdict: bug
# cause: nan-sqrt | nan-norm
# expect_line: 34
# expect_variables: critic/*
# symptom_today: silent: the gradient of the penalty is NaN, critic and generator are NaN after the first steps
# exit: 0
# fix: norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=1) + 1e-12)
# source: keras-team/keras-io#910 (gradient NaN in the WGAN-GP example: tf.sqrt at 0)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)
LATENT = 4


class WGAN(keras.Model):
    def __init__(self, critic, generator, gp_weight=10.0):
        super().__init__()
        self.critic, self.generator, self.gp_weight = critic, generator, gp_weight

    def compile(self, d_optimizer, g_optimizer):
        super().compile()
        self.d_optimizer, self.g_optimizer = d_optimizer, g_optimizer

    def gradient_penalty(self, real, fake):
        alpha = tf.random.uniform((tf.shape(real)[0], 1))
        interpolated = real + alpha * (fake - real)
        with tf.GradientTape() as gp_tape:
            gp_tape.watch(interpolated)
            pred = self.critic(interpolated, training=True)
        grads = gp_tape.gradient(pred, interpolated)
        norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=1))
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_step(self, real):
        for _ in range(3):
            noise = tf.random.normal((tf.shape(real)[0], LATENT))
            with tf.GradientTape() as tape:
                fake = self.generator(noise, training=True)
                d_cost = tf.reduce_mean(self.critic(fake, training=True)) - tf.reduce_mean(self.critic(real, training=True))
                d_loss = d_cost + self.gp_weight * self.gradient_penalty(real, fake)
            d_grads = tape.gradient(d_loss, self.critic.trainable_variables)
            self.d_optimizer.apply_gradients(zip(d_grads, self.critic.trainable_variables))
        noise = tf.random.normal((tf.shape(real)[0], LATENT))
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(self.critic(self.generator(noise, training=True), training=True))
        g_grads = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(g_grads, self.generator.trainable_variables))
        return {"d_loss": d_loss, "g_loss": g_loss}


critic = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(8, activation="relu"),
                           keras.layers.Dense(4, activation="relu"),
                           keras.layers.Dense(1, use_bias=False)], name="critic")
generator = keras.Sequential([keras.layers.Input((LATENT,)), keras.layers.Dense(16, activation="relu"),
                              keras.layers.Dense(2)], name="generator")
points = np.random.default_rng(4).normal([0.8, -0.4], 0.5, size=(256, 2)).astype("float32")
gan = WGAN(critic, generator)
gan.compile(keras.optimizers.Adam(5e-3, beta_1=0.0), keras.optimizers.Adam(2e-3, beta_1=0.0))
history = gan.fit(points, batch_size=32, epochs=5, verbose=0).history
print(history)
assert np.isnan(history["d_loss"][-1]) and any(np.isnan(w).any() for w in critic.get_weights())
