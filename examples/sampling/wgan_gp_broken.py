"""A WGAN with gradient penalty that stops at once: nobody told the inner tape to watch the mixed points."""

import keras
import tensorflow as tf


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    generator = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2)], name="generator"
    )
    # Only differences of scores count, so a bias at the end would have no gradient.
    last = keras.layers.Dense(1, use_bias=False)
    critic = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, "elu"), last], name="critic")
    return {"generator": generator, "critic": critic}


def real_points(step: int) -> tf.Tensor:
    return tf.constant([0.6, -0.4]) + 0.1 * tf.random.normal([64, 2], seed=step)


def penalty(critic: keras.Model, real: tf.Tensor, fake: tf.Tensor, step: int) -> tf.Tensor:
    """How far the slope of the critic is from 1, at points between the real and the generated ones."""
    share = tf.random.uniform([64, 1], seed=step)
    mixed = share * real + (1.0 - share) * fake
    with tf.GradientTape() as inner:
        score = critic(mixed)
    slope = inner.gradient(score, mixed)  # cut: unwatched-source
    length = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=-1) + 1e-12)
    return tf.reduce_mean(tf.square(length - 1.0))


def train(models: dict[str, keras.Model], steps: int = 5) -> list[float]:
    """How far the mean of the generated points is from that of the real ones, after each step."""
    generator, critic = models["generator"], models["critic"]
    generator_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)
    critic_optimizer = keras.optimizers.Adam(1e-2, beta_1=0.0, beta_2=0.9)
    distances = []
    for step in range(steps):
        noise, real = tf.random.normal([64, 4], seed=step), real_points(step)
        with tf.GradientTape() as tape:
            fake = generator(noise)
            loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
            loss += 0.1 * penalty(critic, real, fake, step)
        grads = tape.gradient(loss, critic.trainable_variables)
        critic_optimizer.apply_gradients(zip(grads, critic.trainable_variables, strict=True))
        with tf.GradientTape() as tape:
            fake = generator(noise)
            loss = -tf.reduce_mean(critic(fake))
        grads = tape.gradient(loss, generator.trainable_variables)
        generator_optimizer.apply_gradients(zip(grads, generator.trainable_variables, strict=True))
        distances.append(float(tf.norm(tf.reduce_mean(fake, axis=0) - [0.6, -0.4])))
    return distances


if __name__ == "__main__":
    history = train(build())
    print(f"distance from the real points {history[0]:.3f} -> {history[-1]:.3f}")
