"""A GAN: what the generator made stays in TensorFlow until the discriminator has seen it, also when it is clipped."""

import keras
import tensorflow as tf

from whygrad import sampling


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    generator = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2)], name="generator"
    )
    discriminator = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(1)], name="discriminator"
    )
    return {"generator": generator, "discriminator": discriminator}


def real_points(step: tf.Tensor) -> tf.Tensor:
    return tf.constant([0.6, -0.4]) + 0.1 * tf.random.stateless_normal([64, 2], [1, step])


def train(models: dict[str, keras.Model], steps: int = 300) -> list[float]:
    """How far the mean of the generated points is from that of the real ones, after each step."""
    generator, discriminator = models["generator"], models["discriminator"]
    judge = keras.losses.BinaryCrossentropy(from_logits=True)
    generator_optimizer, discriminator_optimizer = (
        keras.optimizers.Adam(2e-3, beta_1=0.5),
        keras.optimizers.Adam(5e-3, beta_1=0.5),
    )
    generator_optimizer.build(generator.trainable_variables)
    discriminator_optimizer.build(discriminator.trainable_variables)
    # A plain clip has no gradient outside its range: points that land there would be stuck.
    clip = sampling.straight_through(lambda x: tf.clip_by_value(x, -1.0, 1.0))

    @tf.function
    def train_step(step: tf.Tensor) -> tf.Tensor:
        noise, real = tf.random.stateless_normal([64, 4], [2, step]), real_points(step)
        with tf.GradientTape(persistent=True) as tape:
            fake = clip(generator(noise))
            real_score, fake_score = discriminator(real), discriminator(fake)
            discriminator_loss = judge(tf.ones([64, 1]), real_score) + judge(tf.zeros([64, 1]), fake_score)
            generator_loss = judge(tf.ones([64, 1]), fake_score)
        d_grads = tape.gradient(discriminator_loss, discriminator.trainable_variables)
        g_grads = tape.gradient(generator_loss, generator.trainable_variables)
        discriminator_optimizer.apply_gradients(zip(d_grads, discriminator.trainable_variables, strict=True))
        generator_optimizer.apply_gradients(zip(g_grads, generator.trainable_variables, strict=True))
        return tf.norm(tf.reduce_mean(fake, axis=0) - [0.6, -0.4])

    return [float(train_step(tf.constant(step))) for step in range(steps)]


if __name__ == "__main__":
    history = train(build())
    print(f"distance from the real points {history[0]:.3f} -> {history[-1]:.3f}")
