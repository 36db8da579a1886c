"""An autoencoder with categories for a code: relaxed samples that harden while the temperature falls."""

import keras
import numpy as np
import tensorflow as tf

from whygrad import sampling

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


def train(models: dict[str, keras.Model], steps: int = 400) -> list[float]:
    """The reconstruction error of each step, in nats a bit."""
    encoder, decoder = models["encoder"], models["decoder"]
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer = keras.optimizers.Adam(2e-2)
    optimizer.build(variables)
    temperature = sampling.TemperatureSchedule(start=1.0, floor=0.3, half_life=100)
    data = tf.constant(patterns())

    @tf.function
    def train_step(step: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = encoder(data)
            code = sampling.gumbel_softmax(logits, temperature(step), seed=(0, step))
            error = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(data, decoder(code)))
            log_p = tf.nn.log_softmax(logits)
            divergence = tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * (log_p + tf.math.log(float(CATEGORIES))), -1))
            loss = error + 0.01 * divergence
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return error

    return [float(train_step(tf.constant(step))) for step in range(steps)]


if __name__ == "__main__":
    history = train(build())
    print(f"reconstruction error {history[0]:.3f} -> {history[-1]:.3f} nats a bit")
