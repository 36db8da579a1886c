"""A variational autoencoder: the encoder is called, not asked to predict, and its sample carries the gradient."""

import keras
import numpy as np
import tensorflow as tf

from whygrad import sampling


def points(count: int = 512) -> np.ndarray:
    """Points in 8 dimensions that lie near a curved sheet of 2."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(count, 2))
    bent = np.tanh(hidden @ rng.normal(size=(2, 8)) * 1.5)
    return (bent + 0.05 * rng.normal(size=bent.shape)).astype("float32")


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    encoder = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(32, "tanh"), keras.layers.Dense(4)], name="encoder"
    )
    decoder = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(32, "tanh"), keras.layers.Dense(8)], name="decoder"
    )
    return {"encoder": encoder, "decoder": decoder}


def train(models: dict[str, keras.Model], steps: int = 300) -> list[float]:
    """The reconstruction error of each step."""
    encoder, decoder = models["encoder"], models["decoder"]
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer = keras.optimizers.Adam(1e-2)
    optimizer.build(variables)
    data = tf.constant(points())

    @tf.function
    def train_step(step: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(encoder(data), 2, axis=-1)
            sample = sampling.reparameterized_normal(mean, log_variance=log_variance, seed=(0, step))
            error = tf.reduce_mean(tf.square(decoder(sample) - data))
            divergence = 0.5 * tf.reduce_mean(tf.square(mean) + tf.exp(log_variance) - 1.0 - log_variance)
            loss = error + 0.01 * divergence
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return error

    return [float(train_step(tf.constant(step))) for step in range(steps)]


if __name__ == "__main__":
    history = train(build())
    print(f"reconstruction error {history[0]:.3f} -> {history[-1]:.3f}")
