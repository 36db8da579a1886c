"""A GAN whose generator cannot learn: NumPy clips what it made before the discriminator sees it."""

import keras
import numpy as np
import tensorflow as tf


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    generator = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2)], name="generator"
    )
    discriminator = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(1)], name="discriminator"
    )
    return {"generator": generator, "discriminator": discriminator}


def real_points(step: int) -> tf.Tensor:
    return tf.constant([0.6, -0.4]) + 0.1 * tf.random.normal([64, 2], seed=step)


def train(models: dict[str, keras.Model], steps: int = 5) -> list[float]:
    """How far the mean of the generated points is from that of the real ones, after each step."""
    generator, discriminator = models["generator"], models["discriminator"]
    judge = keras.losses.BinaryCrossentropy(from_logits=True)
    generator_optimizer, discriminator_optimizer = (
        keras.optimizers.Adam(2e-3, beta_1=0.5),
        keras.optimizers.Adam(5e-3, beta_1=0.5),
    )
    distances = []
    for step in range(steps):
        noise, real = tf.random.normal([64, 4], seed=step), real_points(step)
        with tf.GradientTape(persistent=True) as tape:
            fake = np.clip(generator(noise), -1.0, 1.0)  # cut: numpy-escape
            real_score, fake_score = discriminator(real), discriminator(fake)
            discriminator_loss = judge(tf.ones([64, 1]), real_score) + judge(tf.zeros([64, 1]), fake_score)
            generator_loss = judge(tf.ones([64, 1]), fake_score)
        d_grads = tape.gradient(discriminator_loss, discriminator.trainable_variables)
        discriminator_optimizer.apply_gradients(zip(d_grads, discriminator.trainable_variables, strict=True))
        g_grads = tape.gradient(generator_loss, generator.trainable_variables)
        generator_optimizer.apply_gradients(zip(g_grads, generator.trainable_variables, strict=True))
        distances.append(float(np.linalg.norm(np.mean(fake, axis=0) - [0.6, -0.4])))
    return distances


if __name__ == "__main__":
    history = train(build())
    print(f"distance from the real points {history[0]:.3f} -> {history[-1]:.3f}")
