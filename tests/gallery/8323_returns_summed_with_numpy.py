# case: returns_summed_with_numpy
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: REINFORCE with a baseline: returns and advantages come from NumPy, before the tape
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(28)
ACTIONS, LENGTH = 2, 8


def mlp(outputs, name):
    return keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(outputs)], name=name)


actor, critic = mlp(ACTIONS, "actor"), mlp(1, "critic")
optimizer = keras.optimizers.Adam(0.02)
variables = actor.trainable_variables + critic.trainable_variables
rng = np.random.default_rng(28)


def play():
    states, actions, rewards = [], [], []
    position = rng.normal(size=3).astype("float32")
    for _ in range(LENGTH):
        action = int(tf.random.categorical(actor(position[None]), 1)[0, 0])
        states.append(position)
        actions.append(action)
        rewards.append(1.0 if action == int(position[0] > 0) else -1.0)
        position = rng.normal(size=3).astype("float32")
    return np.array(states), np.array(actions), np.array(rewards, "float32")


def discounted(rewards, gamma=0.5):
    total, result = 0.0, np.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        total = rewards[t] + gamma * total
        result[t] = total
    return result


def update(states, actions, returns):
    advantages = returns - critic(states).numpy()[:, 0]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(actor(states, training=True))
        chosen = tf.reduce_sum(log_p * tf.one_hot(actions, ACTIONS), axis=-1)
        policy = -tf.reduce_mean(chosen * advantages)
        baseline = tf.reduce_mean(tf.square(critic(states, training=True)[:, 0] - returns))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=-1))
        loss = policy + 0.5 * baseline - 0.01 * entropy
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


scores = []
for episode in range(12):
    games = [play() for _ in range(4)]
    states, actions = np.concatenate([g[0] for g in games]), np.concatenate([g[1] for g in games])
    update(states, actions, np.concatenate([discounted(g[2]) for g in games]))
    scores.append(np.mean([g[2].mean() for g in games]))
print(np.mean(scores[:4]), np.mean(scores[-4:]))
assert np.mean(scores[-4:]) > np.mean(scores[:4])
