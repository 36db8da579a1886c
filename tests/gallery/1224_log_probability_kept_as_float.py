# case: log_probability_kept_as_float
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 32
# expect_variables: actor/* (no gradient)
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: keep the tensor in the memory: self.log_probs.append(log_prob)
# source: tensorflow/tensorflow#43065 (No gradients provided for any variable in the actor's learn function), aseuteurideu/ADNet_pytorch#5 (log probabilities stored as numbers)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Agent:
    def __init__(self, actions=3):
        self.actor = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="relu"),
                                       keras.layers.Dense(actions, activation="softmax")], name="actor")
        self.opt = keras.optimizers.Adam(1e-2)
        self.rng = np.random.default_rng(0)
        self.forget()

    def forget(self):
        self.log_probs, self.rewards = [], []

    def act(self, state):
        probs = self.actor(state[None, :])[0]
        action = self.rng.choice(len(probs), p=probs.numpy() / probs.numpy().sum())
        log_prob = tf.math.log(probs[action])
        self.log_probs.append(float(log_prob))
        return action

    def episode_loss(self):
        returns = np.cumsum(self.rewards[::-1])[::-1].astype("float32")
        return -tf.reduce_mean(tf.constant(self.log_probs) * returns)


agent = Agent()
for episode in range(2):
    state = np.zeros(4, "float32")
    with tf.GradientTape() as tape:
        for t in range(6):
            action = agent.act(state)
            state = 0.9 * state + np.eye(4, dtype="float32")[action]
            agent.rewards.append(float(state[0] - state[2]))
        loss = agent.episode_loss()
    grads = tape.gradient(loss, agent.actor.trainable_variables)
    agent.opt.apply_gradients(zip(grads, agent.actor.trainable_variables))
    agent.forget()
