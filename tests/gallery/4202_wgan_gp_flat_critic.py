# case: wgan_gp_flat_critic
# verdict: bug; static: yes
# cause: nan-sqrt | nan-norm
# expect_line: 34
# expect_variables: critic/* (NaN after the first critic step)
# symptom_today: silent: d_loss nan from the second batch on
# exit: 0
# fix: tf.sqrt(tf.reduce_sum(...) + 1e-12)
# source: keras-team/keras-io#910 (WGAN-GP example: sqrt of the summed squares is not differentiable when the slopes are zero), tdeboissiere/DeepLearningImplementations#68
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class WGAN(keras.Model):
    def __init__(self, critic, generator, latent=3, gp_weight=10.0):
        super().__init__()
        self.critic, self.generator = critic, generator
        self.latent, self.gp_weight = latent, gp_weight

    def compile(self, d_optimizer, g_optimizer):
        super().compile()
        self.d_optimizer, self.g_optimizer = d_optimizer, g_optimizer

    def gradient_penalty(self, real, fake):
        mix = tf.random.uniform((tf.shape(real)[0], 1))
        between = fake + mix * (real - fake)
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = self.critic(between, training=True)
        slopes = inner.gradient(score, between)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1))
        return tf.reduce_mean(tf.square(norm - 1.0))

    def train_step(self, data):
        real = data[0] if isinstance(data, tuple) else data
        noise = tf.random.normal((tf.shape(real)[0], self.latent))
        with tf.GradientTape() as tape:
            fake = self.generator(noise, training=True)
            cost = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
            d_loss = cost + self.gp_weight * self.gradient_penalty(real, fake)
        grads = tape.gradient(d_loss, self.critic.trainable_variables)
        self.d_optimizer.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(self.critic(self.generator(noise, training=True)))
        grads = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_variables))
        return {"d_loss": d_loss, "g_loss": g_loss}


critic = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(16, activation="leaky_relu"),
                           keras.layers.Dense(1, kernel_initializer="zeros")], name="critic")
generator = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
gan = WGAN(critic, generator)
gan.compile(keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3))
points = np.random.default_rng(0).normal(2.0, 0.3, size=(64, 2)).astype("float32")
history = gan.fit(points, batch_size=16, epochs=2, verbose=0).history
print(history)
assert np.isnan(history["d_loss"][-1])
