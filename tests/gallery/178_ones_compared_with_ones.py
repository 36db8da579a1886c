# case: ones_compared_with_ones
# verdict: bug; static: yes
# cause: constant-target | variable-not-in-loss | non-differentiable-op
# expect_line: 26 36 40
# expect_variables: generator/*
# symptom_today: raises ValueError: No gradients provided for any variable (the discriminator trained well)
# exit: 1 (ValueError)
# fix: cross_entropy(tf.ones_like(fake_output), fake_output)
# seen: the two loss helpers of the image-generation tutorial retyped
import tensorflow as tf
from tensorflow.keras import layers, losses, models, optimizers

generator = models.Sequential(
    [layers.Input((5,)), layers.Dense(8, activation="relu"), layers.Dense(2)], name="generator")
discriminator = models.Sequential([layers.Input((2,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
cross_entropy = losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = optimizers.Adam(1e-4), optimizers.Adam(1e-4)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    return real_loss + cross_entropy(tf.zeros_like(fake_output), fake_output)


def generator_loss(fake_output):
    return cross_entropy(tf.ones_like(fake_output), tf.ones_like(fake_output))


@tf.function
def train_step(points):
    noise = tf.random.normal([16, 5])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fake = generator(noise, training=True)
        real_output = discriminator(points, training=True)
        fake_output = discriminator(fake, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    d_opt.apply_gradients(
        zip(disc_tape.gradient(disc_loss, discriminator.trainable_variables), discriminator.trainable_variables))
    gradients_of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(gradients_of_generator, generator.trainable_variables))


train_step(tf.random.normal((16, 2), seed=1))
