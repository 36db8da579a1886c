# case: advantage_column_times_log_probability_row
# verdict: bug; static: no
# cause: loss-shape-broadcast
# expect_line: 26 28
# expect_variables: - (the loss; actor/*)
# symptom_today: silent: every action is weighted by everybody's advantage
# exit: 0
# fix: tf.squeeze(values, -1) before the advantage is computed
# seen: advantage actor-critic with a critic that returns a column
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
actor = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3)],
                         name="actor")
critic = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)],
                          name="critic")
actor_opt, critic_opt = keras.optimizers.Adam(3e-3), keras.optimizers.Adam(1e-2)


@tf.function
def update(states, actions, returns):
    with tf.GradientTape(persistent=True) as tape:
        values = critic(states, training=True)
        advantage = returns - values
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, actor(states, training=True))
        weighted = logp * tf.stop_gradient(advantage)
        actor_loss = -tf.reduce_mean(weighted)
        critic_loss = tf.reduce_mean(tf.square(advantage))
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    critic_opt.apply_gradients(zip(tape.gradient(critic_loss, critic.trainable_variables), critic.trainable_variables))
    return weighted


rng = np.random.default_rng(3)
states = rng.normal(size=(10, 4)).astype("float32")
weighted = update(states, rng.integers(0, 3, 10), rng.normal(size=10).astype("float32"))
print(weighted.shape)
assert weighted.shape == (10, 10)
