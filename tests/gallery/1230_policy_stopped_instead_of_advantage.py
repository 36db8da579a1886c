# case: policy_stopped_instead_of_advantage
# verdict: bug; static: yes
# cause: stop-gradient
# expect_line: 35 39
# expect_variables: actor/*
# symptom_today: silent: UserWarning Gradients do not exist for the actor's variables; the critic trains
# exit: 0
# fix: tf.stop_gradient belongs around the advantage, not around the log probability
# source: own words, after reports on A2C examples where the actor never improves (stop_gradient on the wrong factor)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)
actor = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)], name="actor")
critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)], name="critic")
opt = keras.optimizers.Adam(1e-2)
rng = np.random.default_rng(5)


def rollout(n=32):
    s = rng.normal(size=(n, 4)).astype("float32")
    a = tf.squeeze(tf.random.categorical(actor(s), 1, seed=1), -1)
    r = np.where(a.numpy() == (s[:, 0] > 0), 1.0, -1.0).astype("float32")
    return tf.constant(s), a, tf.constant(r)


start = actor.get_weights()[0].copy()
for episode in range(5):
    states, actions, returns = rollout()
    with tf.GradientTape() as tape:
        value = tf.squeeze(critic(states), -1)
        advantage = returns - value
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, actor(states))
        policy_loss = -tf.reduce_mean(tf.stop_gradient(logp) * advantage)
        value_loss = tf.reduce_mean(tf.square(advantage))
        loss = policy_loss + 0.5 * value_loss
    weights = actor.trainable_variables + critic.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    print(episode, float(loss))
assert np.array_equal(start, actor.get_weights()[0])
