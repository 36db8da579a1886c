# case: gradient_penalty_without_watch
# verdict: bug; static: no
# cause: unwatched-source
# expect_line: 29 30 31
# expect_variables: between (interpolated samples)
# symptom_today: raises ValueError: Tried to convert 'x' to a tensor and failed. Error: None values not supported.
# exit: 1 (ValueError)
# fix: inner.watch(between) before the critic is called
# source: tensorflow/tensorflow#36436 and eriklindernoren/Keras-GAN#215 (gradient penalty: gradient of the interpolated image is None)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Wgan(keras.Model):
    def __init__(self, generator, critic, noise_dim):
        super().__init__()
        self.generator, self.critic, self.noise_dim = generator, critic, noise_dim

    def compile(self, g_opt, c_opt):
        super().compile()
        self.g_opt, self.c_opt = g_opt, c_opt

    def penalty(self, real, fake):
        mix = tf.random.uniform((tf.shape(real)[0], 1), seed=2)
        between = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as inner:
            score = self.critic(between, training=True)
        slope = inner.gradient(score, between)
        length = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1) + 1e-12)
        return tf.reduce_mean(tf.square(length - 1.0))

    def train_step(self, real):
        noise = tf.random.normal((tf.shape(real)[0], self.noise_dim), seed=4)
        with tf.GradientTape() as tape:
            fake = self.generator(noise, training=True)
            c_loss = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
            c_loss += 10.0 * self.penalty(real, fake)
        grads = tape.gradient(c_loss, self.critic.trainable_variables)
        self.c_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(self.critic(self.generator(noise, training=True)))
        grads = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.generator.trainable_variables))
        return {"c_loss": c_loss, "g_loss": g_loss}


def mlp(n_in, n_out, name):
    return keras.Sequential([keras.layers.Input((n_in,)), keras.layers.Dense(16, activation="gelu"), keras.layers.Dense(n_out)], name=name)


gan = Wgan(mlp(3, 2, "generator"), mlp(2, 1, "critic"), 3)
gan.compile(keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3))
gan.fit(np.random.default_rng(0).normal(size=(32, 2)).astype("float32"), batch_size=16, epochs=1, verbose=0)
