"""REINFORCE: the score function turns rewards of drawn arms into a gradient of the policy."""

import keras
import tensorflow as tf

from whygrad import sampling

# What each of four arms pays on average in each of three situations.
PAYOFF = tf.constant([[0.1, 0.9, 0.3, 0.2], [0.8, 0.2, 0.1, 0.4], [0.3, 0.2, 0.1, 0.7]])


def build() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(0)
    return {"policy": keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)], name="policy")}


def train(models: dict[str, keras.Model], steps: int = 300) -> list[float]:
    """What each step gave away: the best mean payoff minus that of the arms drawn."""
    policy = models["policy"]
    optimizer = keras.optimizers.Adam(5e-2)
    optimizer.build(policy.trainable_variables)
    baseline = sampling.MovingAverage(decay=0.9)

    @tf.function
    def train_step(step: tf.Tensor) -> tf.Tensor:
        situation = tf.random.stateless_uniform([64], [1, step], maxval=3, dtype=tf.int32)
        with tf.GradientTape() as tape:
            draw = sampling.draw_categorical(policy(tf.one_hot(situation, 3)), seed=(2, step))
            reward = tf.reduce_sum(draw.sample * tf.gather(PAYOFF, situation), axis=-1)
            cost = -(reward + 0.1 * tf.random.stateless_normal([64], [3, step]))
            loss = tf.reduce_mean(sampling.score_function(cost, draw.log_prob, baseline=baseline))
        grads = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables, strict=True))
        best = tf.gather(tf.reduce_max(PAYOFF, axis=-1), situation)
        return tf.reduce_mean(best - reward)

    return [float(train_step(tf.constant(step))) for step in range(steps)]


if __name__ == "__main__":
    history = train(build())
    print(f"regret {history[0]:.3f} -> {history[-1]:.3f}")
