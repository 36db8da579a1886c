"""A vector-quantised autoencoder: the gradient passes straight through the nearest entry to the encoder."""

import keras
import numpy as np
import tensorflow as tf

from whygrad import sampling


def clusters(count: int = 512) -> np.ndarray:
    """Points in 6 dimensions around eight centers."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(8, 6)) * 2.0
    return (centers[rng.integers(0, 8, count)] + 0.1 * rng.normal(size=(count, 6))).astype("float32")


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    encoder = keras.Sequential(
        [keras.Input((6,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(3)], name="encoder"
    )
    decoder = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(6)], name="decoder"
    )
    codebook = keras.Sequential([keras.Input((), dtype="int32"), keras.layers.Embedding(16, 3)], name="codebook")
    return {"encoder": encoder, "decoder": decoder, "codebook": codebook}


def train(models: dict[str, keras.Model], steps: int = 400) -> list[float]:
    """The reconstruction error of each step."""
    encoder, decoder, codebook = models["encoder"], models["decoder"], models["codebook"]
    variables = [variable for model in models.values() for variable in model.trainable_variables]
    optimizer = keras.optimizers.Adam(1e-2)
    optimizer.build(variables)
    data = tf.constant(clusters())

    @tf.function
    def train_step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            quantized = sampling.vq(encoder(data), codebook.trainable_variables[0])
            error = tf.reduce_mean(tf.square(decoder(quantized.values) - data))
            loss = error + quantized.loss
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return error

    return [float(train_step()) for _ in range(steps)]


if __name__ == "__main__":
    history = train(build())
    print(f"reconstruction error {history[0]:.3f} -> {history[-1]:.3f}")
