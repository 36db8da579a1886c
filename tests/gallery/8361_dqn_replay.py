# case: dqn_replay
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: targets of a value network are numbers, the stop_gradient is there for clarity
import collections
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)
STATES, ACTIONS, GAMMA = 6, 2, 0.9


def q_network():
    return keras.Sequential([keras.Input((STATES,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(ACTIONS)])


class Corridor:
    def __init__(self):
        self.position = 0

    def reset(self):
        self.position = 0
        return self.encode()

    def encode(self):
        return np.eye(STATES, dtype="float32")[self.position]

    def step(self, action):
        self.position = int(np.clip(self.position + (1 if action else -1), 0, STATES - 1))
        done = self.position == STATES - 1
        return self.encode(), float(done), done


online, target = q_network(), q_network()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(5e-3)
memory = collections.deque(maxlen=500)
rng = np.random.default_rng(0)
env = Corridor()
updates = 0

for episode in range(12):
    state, done, steps = env.reset(), False, 0
    while not done and steps < 25:
        q = online(state[None]).numpy()[0]
        action = int(rng.integers(ACTIONS)) if rng.uniform() < 0.4 else int(np.argmax(q))
        following, reward, done = env.step(action)
        memory.append((state, action, reward, following, float(done)))
        state, steps = following, steps + 1
        if len(memory) < 16 or steps % 2:
            continue
        rows = [memory[i] for i in rng.integers(0, len(memory), 16)]
        s, a, r, n, d = (np.array(column, "float32") for column in zip(*rows))
        best = tf.reduce_max(target(n), axis=1)
        goal = tf.stop_gradient(r + GAMMA * (1.0 - d) * best)
        with tf.GradientTape() as tape:
            chosen = tf.reduce_sum(online(s) * tf.one_hot(a.astype("int32"), ACTIONS), axis=1)
            loss = tf.reduce_mean(tf.square(goal - chosen))
        grads = tape.gradient(loss, online.trainable_variables)
        optimizer.apply_gradients(zip(grads, online.trainable_variables))
        updates += 1
        if updates % 20 == 0:
            target.set_weights(online.get_weights())
print("updates", updates, "loss", float(loss), "values", online(np.eye(STATES, dtype="float32")).numpy()[:, 1])
