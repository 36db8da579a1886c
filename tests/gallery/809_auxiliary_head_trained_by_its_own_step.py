# case: auxiliary_head_trained_by_its_own_step
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: an unused head in one loss that another loss trains
import keras
import numpy as np
import tensorflow as tf

trunk = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(8, activation="relu")], name="trunk")
value, policy = keras.layers.Dense(1, name="value"), keras.layers.Dense(2, name="policy")
value.build((None, 8)), policy.build((None, 8))
everything = trunk.trainable_variables + value.trainable_variables + policy.trainable_variables
opt = keras.optimizers.Adam(0.01)
opt.build(everything)


def apply(tape, loss):
    sources = [v.value for v in everything]
    grads = tape.gradient(loss, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    opt.apply_gradients(zip(grads, everything))


@tf.function
def update(s, ret, actions):
    with tf.GradientTape() as tape:
        v_loss = tf.reduce_mean((value(trunk(s)) - ret) ** 2)
    apply(tape, v_loss)
    with tf.GradientTape() as tape:
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, policy(trunk(s)))
        advantage = tf.stop_gradient(ret - value(trunk(s)))
        p_loss = -tf.reduce_mean(logp[:, None] * advantage)
    apply(tape, p_loss)
    return v_loss


start = [policy.get_weights()[0].copy(), value.get_weights()[0].copy()]
s = tf.random.normal((32, 5), seed=2)
losses = [float(update(s, s[:, :1], tf.cast(s[:, 1] > 0, tf.int32))) for _ in range(15)]
assert losses[-1] < losses[0]
assert not np.array_equal(start[0], policy.get_weights()[0]) and not np.array_equal(start[1], value.get_weights()[0])
