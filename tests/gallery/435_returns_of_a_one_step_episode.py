# case: returns_of_a_one_step_episode
# verdict: bug; static: no
# cause: nan-division | nan-std
# expect_line: 37
# expect_variables: policy/*
# symptom_today: silent: 0 / 0 in the standardised returns, the policy is NaN after the first short episode
# exit: 0
# fix: divide by (std + 1e-8)
# seen: episodic policy gradients with standardised returns
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
policy = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(2)],
                          name="policy")
opt = keras.optimizers.Adam(1e-2)
rng = np.random.default_rng(0)


def discounted(rewards, gamma=0.99):
    total, out = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        out.insert(0, total)
    return tf.constant(out, tf.float32)


def play(length):
    states = tf.constant(rng.normal(size=(length, 2)), tf.float32)
    actions = tf.random.categorical(policy(states), 1)[:, 0]
    return states, actions, list(np.ones(length))


def improve(states, actions, rewards):
    returns = discounted(rewards)
    returns = (returns - tf.reduce_mean(returns)) / tf.math.reduce_std(returns)
    with tf.GradientTape() as tape:
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, policy(states))
        loss = -tf.reduce_mean(logp * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return float(loss)


losses = [improve(*play(length)) for length in (6, 4, 1)]
print(losses)
assert np.isnan(losses[-1]) and np.isfinite(losses[:2]).all()
