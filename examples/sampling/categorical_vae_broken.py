"""An autoencoder with categories for a code, whose encoder never learns: a drawn category is an integer."""

import keras
import numpy as np
import tensorflow as tf

CODES, CATEGORIES = 2, 4


def patterns(count: int = 512) -> np.ndarray:
    """Patterns of 16 bits: one of four on the left, one of four on the right, a few bits flipped."""
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 2, (2, 4, 8))
    rows = np.concatenate([left[rng.integers(0, 4, count)], right[rng.integers(0, 4, count)]], axis=1)
    return np.where(rng.random(rows.shape) < 0.02, 1 - rows, rows).astype("float32")


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    encoder = keras.Sequential(
        [
            keras.Input((16,)),
            keras.layers.Dense(32, "relu"),
            keras.layers.Dense(CODES * CATEGORIES),
            keras.layers.Reshape((CODES, CATEGORIES)),
        ],
        name="encoder",
    )
    decoder = keras.Sequential(
        [keras.Input((CODES, CATEGORIES)), keras.layers.Flatten(), keras.layers.Dense(16)], name="decoder"
    )
    return {"encoder": encoder, "decoder": decoder}


def train(models: dict[str, keras.Model], steps: int = 15) -> list[float]:
    """The reconstruction error of each step, in nats a bit."""
    encoder, decoder = models["encoder"], models["decoder"]
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer = keras.optimizers.Adam(2e-2)
    data, errors = tf.constant(patterns()), []
    for step in range(steps):
        with tf.GradientTape() as tape:
            logits = tf.reshape(encoder(data), [-1, CATEGORIES])
            drawn = tf.random.categorical(logits, 1, seed=step)  # cut: non-reparameterised-sample
            code = tf.reshape(tf.one_hot(drawn[:, 0], CATEGORIES), [-1, CODES, CATEGORIES])
            error = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(data, decoder(code)))
            # Of the sample, not of the probabilities: this term is not connected to the encoder either.
            divergence = tf.reduce_mean(tf.reduce_sum(code * tf.math.log(CATEGORIES * code + 1e-7), -1))
            loss = error + 0.01 * divergence
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        errors.append(float(error))
    return errors


if __name__ == "__main__":
    history = train(build())
    print(f"reconstruction error {history[0]:.3f} -> {history[-1]:.3f} nats a bit")
