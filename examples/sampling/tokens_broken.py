"""A token generator that cannot learn: each step takes the best token by `argmax`, in a loop."""

import keras
import tensorflow as tf

VOCABULARY, LENGTH = 8, 5


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    cell = keras.Sequential([keras.Input((32 + VOCABULARY,)), keras.layers.Dense(32, "tanh")], name="cell")
    head = keras.Sequential([keras.Input((32,)), keras.layers.Dense(VOCABULARY)], name="head")
    return {"cell": cell, "head": head}


def generate(models: dict[str, keras.Model], start: tf.Tensor) -> tf.Tensor:
    """One-hot tokens of shape [batch, LENGTH, VOCABULARY]."""
    token, state = tf.one_hot(start, VOCABULARY), tf.zeros([tf.shape(start)[0], 32])
    tokens = tf.TensorArray(tf.float32, LENGTH, element_shape=[None, VOCABULARY])
    for place in tf.range(LENGTH):
        state = models["cell"](tf.concat([state, token], axis=-1))
        best = tf.argmax(models["head"](state), axis=-1)  # cut: non-differentiable-op
        token = tf.one_hot(best, VOCABULARY)
        tokens = tokens.write(place, token)
    return tf.transpose(tokens.stack(), [1, 0, 2])


def train(models: dict[str, keras.Model], steps: int = 5) -> list[float]:
    """The share of wrong tokens of each step; right is counting upwards from the start token."""
    variables = [variable for model in models.values() for variable in model.trainable_variables]
    optimizer = keras.optimizers.Adam(1e-2)
    start = tf.range(VOCABULARY)
    wanted = tf.one_hot((start[:, None] + 1 + tf.range(LENGTH)) % VOCABULARY, VOCABULARY)
    wrong = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tokens = generate(models, start)
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(tokens - wanted), axis=-1))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        wrong.append(float(0.5 * loss))
    return wrong


if __name__ == "__main__":
    history = train(build())
    print(f"wrong tokens {history[0]:.0%} -> {history[-1]:.0%}")
