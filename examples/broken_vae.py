"""A variational autoencoder whose encoder never learns. `whygrad run examples/broken_vae.py` says why."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

LATENT = 2
keras.utils.set_random_seed(0)

encoder = keras.Sequential(
    [keras.Input((64,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2 * LATENT)], name="encoder"
)
decoder = keras.Sequential(
    [keras.Input((LATENT,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(64)], name="decoder"
)
optimizer = keras.optimizers.Adam(1e-3)


def sample(mean: tf.Tensor, log_variance: tf.Tensor) -> np.ndarray:
    """Draw a latent vector for each image."""
    noise = np.random.normal(size=mean.shape).astype("float32")
    return mean.numpy() + np.exp(0.5 * log_variance.numpy()) * noise


def train_step(images: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        mean, log_variance = tf.split(encoder(images), 2, axis=-1)
        code = sample(mean, log_variance)
        reconstruction = decoder(code)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=reconstruction))
    variables = encoder.trainable_variables + decoder.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return loss


def main() -> None:
    digits = tf.cast(tf.random.uniform((512, 64)) > 0.5, tf.float32)
    for epoch in range(3):
        losses = [float(train_step(batch)) for batch in tf.data.Dataset.from_tensor_slices(digits).batch(64)]
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}")


if __name__ == "__main__":
    main()
