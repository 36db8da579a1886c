# case: epsilon_decayed_by_a_method
# verdict: bug
# cause: python-state-in-graph
# expect_line: 23 26 30 33
# expect_variables: -
# symptom_today: silent: the agent acts at random for ever, epsilon is changed once and then no more
# exit: 0
# fix: hold epsilon in a tf.Variable(trainable=False) and assign to it, or pass it in as a tensor
# source: tensorflow/agents#300 (Epsilon Decay in DQN), also tensorflow/agents#827
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
N_ACTIONS, DECAY, MIN_EPSILON = 4, 0.9, 0.02


class EpsilonGreedyAgent:
    def __init__(self):
        self.q_net = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(32, activation="relu"),
                                       keras.layers.Dense(N_ACTIONS)], name="q_net")
        self.optimizer = keras.optimizers.Adam(1e-2)
        self.epsilon = 1.0

    def update_epsilon(self):
        self.epsilon = max(MIN_EPSILON, self.epsilon * DECAY)

    @tf.function
    def collect(self, states):
        self.update_epsilon()
        greedy = tf.argmax(self.q_net(states), axis=1, output_type=tf.int32)
        random = tf.random.uniform(tf.shape(greedy), 0, N_ACTIONS, dtype=tf.int32)
        explore = tf.random.uniform(tf.shape(greedy)) < self.epsilon
        return tf.where(explore, random, greedy)

    @tf.function
    def train(self, states, actions, rewards):
        with tf.GradientTape() as tape:
            q = tf.gather(self.q_net(states, training=True), actions, batch_dims=1)
            loss = tf.reduce_mean(tf.square(rewards - q))
        grads = tape.gradient(loss, self.q_net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.q_net.trainable_variables))
        return loss


rng = np.random.default_rng(0)
arm = rng.normal(size=(5, N_ACTIONS))
agent = EpsilonGreedyAgent()
rewards_log, losses = [], []
for step in range(60):
    states = rng.normal(size=(128, 5)).astype("float32")
    actions = agent.collect(tf.constant(states))
    rewards = (actions.numpy() == (states @ arm).argmax(1)).astype("float32")
    losses.append(float(agent.train(tf.constant(states), actions, tf.constant(rewards))))
    rewards_log.append(rewards.mean())
print("epsilon", agent.epsilon, "mean reward of the last steps", np.mean(rewards_log[-10:]))
assert losses[-1] < losses[0] and agent.epsilon > 0.85 and np.mean(rewards_log[-10:]) < 0.4
