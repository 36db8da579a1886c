# case: dqn_column_minus_row
# verdict: bug
# cause: loss-shape-broadcast
# expect_line: 65 66
# expect_variables: -
# symptom_today: no error, but the loss stalls and the Q values of the taken actions are nearly the same in every state
# exit: 0
# fix: q_taken = tf.reduce_sum(q * tf.one_hot(b["action"], 2), axis=1, keepdims=True), so that both are (batch, 1)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
GAMMA = 0.8


class ReplayBuffer:
    """Columns of shape (n, 1), as they come out of the environment."""

    def __init__(self, size):
        self.cols = {"state": np.zeros((size, 2), "float32"), "action": np.zeros((size,), "int32"),
                     "reward": np.zeros((size, 1), "float32"), "next": np.zeros((size, 2), "float32"),
                     "done": np.zeros((size, 1), "float32")}
        self.n, self.size = 0, size

    def add(self, s, a, r, s2, d):
        for key, val in zip(self.cols, (s, a, r, s2, d)):
            self.cols[key][self.n] = val
        self.n += 1

    def sample(self, k):
        rows = np.random.randint(0, self.n, size=k)
        return {key: tf.constant(col[rows]) for key, col in self.cols.items()}


def play_randomly(buffer):
    """A walker on [-1, 1] in the wind: the right end pays +1, the left end costs 1."""
    s = np.random.uniform(-1, 1, size=2)
    while buffer.n < buffer.size:
        a = np.random.randint(2)
        x = s[0] + (0.25 if a == 1 else -0.25) + 0.15 * s[1]
        s2 = np.array([x, np.clip(s[1] + 0.2 * np.random.normal(), -1, 1)])
        done = abs(x) > 1.0
        buffer.add(s, a, np.sign(x) if done else 0.0, s2, float(done))
        s = np.random.uniform(-1, 1, size=2) if done else s2


def make_net():
    return keras.Sequential([keras.Input((2,)), layers.Dense(32, activation="tanh"),
                             layers.Dense(32, activation="tanh"), layers.Dense(2)])


q_net, target_net = make_net(), make_net()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def learn(b):
    best_next = tf.reduce_max(target_net(b["next"]), axis=1, keepdims=True)
    y = b["reward"] + GAMMA * (1.0 - b["done"]) * best_next
    with tf.GradientTape() as tape:
        q = q_net(b["state"])
        q_taken = tf.reduce_sum(q * tf.one_hot(b["action"], 2), axis=1)
        td_error = y - q_taken
        loss = tf.reduce_mean(tf.square(td_error))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss, q_taken


buffer = ReplayBuffer(3000)
play_randomly(buffer)
for step in range(300):
    loss, q_taken = learn(buffer.sample(64))
    if step % 20 == 19:
        target_net.set_weights(q_net.get_weights())
    if step % 60 == 0 or step == 299:
        print(f"step {step:3d}  loss {float(loss):.4f}  spread of Q {float(tf.math.reduce_std(q_taken)):.3f}")
