# case: actor_critic_with_shared_torso
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: advantage actor-critic: the advantage is a number for the policy, an entropy bonus keeps it exploring
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(25)
ACTIONS, GAMMA = 3, 0.9
state = keras.Input((4,))
torso = layers.Dense(32, activation="tanh", name="torso")(state)
agent = keras.Model(state, [layers.Dense(ACTIONS, name="policy")(torso), layers.Dense(1, name="value")(torso)])
optimizer = keras.optimizers.Adam(0.01)
rng = np.random.default_rng(25)
best = rng.normal(size=(4, ACTIONS))


def act(states):
    logits, _ = agent(states)
    return tf.squeeze(tf.random.categorical(logits, 1), -1)


def environment(states, actions):
    rewards = np.where(np.argmax(states @ best, axis=1) == actions, 1.0, 0.0)
    return rewards.astype("float32"), rng.normal(size=states.shape).astype("float32")


mean_reward = []
for update in range(30):
    states = rng.normal(size=(64, 4)).astype("float32")
    actions = act(states)
    rewards, next_states = environment(states, actions.numpy())
    with tf.GradientTape() as tape:
        logits, values = agent(states, training=True)
        values = tf.squeeze(values, -1)
        _, bootstrap = agent(next_states, training=True)
        targets = rewards + GAMMA * tf.stop_gradient(tf.squeeze(bootstrap, -1))
        advantage = tf.stop_gradient(targets - values)
        log_p = tf.nn.log_softmax(logits)
        taken = tf.gather(log_p, actions, axis=1, batch_dims=1)
        policy_loss = -tf.reduce_mean(taken * advantage)
        value_loss = tf.reduce_mean(tf.square(targets - values))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=-1))
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
    grads = tape.gradient(loss, agent.trainable_variables)
    optimizer.apply_gradients(zip(grads, agent.trainable_variables))
    mean_reward.append(rewards.mean())
print(np.mean(mean_reward[:5]), np.mean(mean_reward[-5:]))
assert np.mean(mean_reward[-5:]) > np.mean(mean_reward[:5])
