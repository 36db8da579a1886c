# case: reinforce_numpy_returns
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: actions and advantages come back from the environment as NumPy arrays and carry no gradient, as it should be
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)


class Policy(keras.Model):
    def __init__(self, n_actions):
        super().__init__()
        self.hidden = keras.layers.Dense(16, activation="tanh")
        self.logits = keras.layers.Dense(n_actions)

    def call(self, obs):
        return self.logits(self.hidden(obs))


def play(policy, rng, horizon=15):
    obs_log, action_log, reward_log = [], [], []
    x = rng.normal(size=2).astype("float32")
    for _ in range(horizon):
        logits = policy(x[None])
        action = int(tf.random.categorical(logits, 1, seed=int(rng.integers(10 ** 6))).numpy()[0, 0])
        x_next = x + 0.3 * (np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], "float32")[action])
        obs_log.append(x)
        action_log.append(action)
        reward_log.append(float(np.linalg.norm(x) - np.linalg.norm(x_next)))
        x = x_next.astype("float32")
    return np.array(obs_log), np.array(action_log), np.array(reward_log)


def discount(rewards, gamma=0.9):
    total, out = 0.0, np.zeros_like(rewards)
    for i in reversed(range(len(rewards))):
        total = rewards[i] + gamma * total
        out[i] = total
    return out


policy = Policy(4)
optimizer = keras.optimizers.Adam(1e-2)
rng = np.random.default_rng(5)
for iteration in range(10):
    episodes = [play(policy, rng) for _ in range(2)]
    obs = np.concatenate([e[0] for e in episodes])
    actions = np.concatenate([e[1] for e in episodes])
    returns = np.concatenate([discount(e[2]) for e in episodes])
    advantage = ((returns - returns.mean()) / (returns.std() + 1e-8)).astype("float32")
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(policy(obs))
        chosen = tf.gather(logp, actions, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
        loss = -tf.reduce_mean(chosen * advantage) - 0.01 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
print("loss", float(loss), "last return", returns.mean(), "none", [g is None for g in grads])
