# case: policy_update_through_get_updates
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 28 39
# expect_variables: - (the update of actor/* is never made)
# symptom_today: raises AttributeError: 'RMSprop' object has no attribute 'get_updates'
# exit: 1 (AttributeError)
# fix: write the update with tf.GradientTape and optimizer.apply_gradients
# source: rlcode/reinforcement-learning#101, tensorflow/tensorflow#27568, pythonlessons/RL-Bitcoin-trading-bot#25
import numpy as np
import tensorflow as tf
import keras


class PolicyAgent:
    def __init__(self, n_state, n_action):
        self.actor = keras.Sequential([keras.Input((n_state,)), keras.layers.Dense(16, activation="relu"),
                                       keras.layers.Dense(n_action, activation="softmax")], name="actor")
        self.optimizer = keras.optimizers.RMSprop(1e-3)
        self.rewards = []

    def loss(self, states, actions, returns):
        prob = tf.reduce_sum(self.actor(states) * tf.one_hot(actions, 2), axis=1)
        return -tf.reduce_mean(tf.math.log(prob) * returns)

    def train(self, states, actions, returns):
        loss = self.loss(states, actions, returns)
        updates = self.optimizer.get_updates(self.actor.trainable_weights, [], loss)
        return loss, updates


keras.utils.set_random_seed(0)
agent = PolicyAgent(4, 2)
rng = np.random.default_rng(0)
for episode in range(2):
    states = rng.normal(size=(12, 4)).astype("float32")
    actions = rng.integers(0, 2, 12)
    returns = np.linspace(1, 0, 12).astype("float32")
    print(episode, float(agent.train(states, actions, returns)[0]))
