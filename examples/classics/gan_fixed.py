"""A GAN as a Keras model with a train_step of its own."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
real_points = tf.random.normal((256, 2)) * 0.3 + [2.0, -1.0]
entropy = keras.losses.BinaryCrossentropy(from_logits=True)


class GAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = keras.Sequential(
            [keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)], name="generator"
        )
        self.discriminator = keras.Sequential(
            [keras.Input((2,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)], name="discriminator"
        )
        self.g_optimizer = keras.optimizers.Adam(0.002)
        self.d_optimizer = keras.optimizers.Adam(0.002)

    def train_step(self, real):
        noise = tf.random.normal((tf.shape(real)[0], 4))
        with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
            fake_logits = self.discriminator(self.generator(noise, training=True), training=True)
            real_logits = self.discriminator(real, training=True)
            g_loss = entropy(tf.ones_like(fake_logits), fake_logits)
            d_loss = entropy(tf.ones_like(real_logits), real_logits) + entropy(tf.zeros_like(fake_logits), fake_logits)
        g_gradients = g_tape.gradient(g_loss, self.generator.trainable_variables)
        d_gradients = d_tape.gradient(d_loss, self.discriminator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(g_gradients, self.generator.trainable_variables))
        self.d_optimizer.apply_gradients(zip(d_gradients, self.discriminator.trainable_variables))
        return {"g_loss": g_loss, "d_loss": d_loss}


gan = GAN()
gan.compile()
history = gan.fit(tf.data.Dataset.from_tensor_slices(real_points).batch(32), epochs=4, verbose=0)
print("mean of the generated points", tf.reduce_mean(gan.generator(tf.random.normal((256, 4))), axis=0).numpy())
