"""A policy that cannot learn: the reward of a drawn arm says nothing about the probabilities it was drawn from."""

import keras
import tensorflow as tf

# What each of four arms pays on average in each of three situations.
PAYOFF = tf.constant([[0.1, 0.9, 0.3, 0.2], [0.8, 0.2, 0.1, 0.4], [0.3, 0.2, 0.1, 0.7]])


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    return {"policy": keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)], name="policy")}


def train(models: dict[str, keras.Model], steps: int = 5) -> list[float]:
    """What each step gave away: the best mean payoff minus that of the arms drawn."""
    policy = models["policy"]
    optimizer = keras.optimizers.Adam(5e-2)
    regrets = []
    for step in range(steps):
        situation = tf.random.uniform([64], maxval=3, dtype=tf.int32, seed=step)
        with tf.GradientTape() as tape:
            logits = policy(tf.one_hot(situation, 3))
            arm = tf.random.categorical(logits, 1, seed=step)[:, 0]  # cut: non-reparameterised-sample
            reward = tf.gather(tf.gather(PAYOFF, situation), arm, batch_dims=1)
            loss = -tf.reduce_mean(reward + 0.1 * tf.random.normal([64], seed=step))
        grads = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables, strict=True))
        best = tf.gather(tf.reduce_max(PAYOFF, axis=-1), situation)
        regrets.append(float(tf.reduce_mean(best - reward)))
    return regrets


if __name__ == "__main__":
    history = train(build())
    print(f"regret {history[0]:.3f} -> {history[-1]:.3f}")
