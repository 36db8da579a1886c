# case: ratio_of_two_stored_log_probabilities
# verdict: bug; static: no
# cause: numpy-escape | outside-tape | constant-target | variable-not-in-loss
# expect_line: 39 43 47 49 50
# expect_variables: actor/*
# symptom_today: every gradient of the actor is None; apply raises ValueError
# exit: 1 (ValueError)
# fix: recompute the new log-probabilities from actor(states) under the tape
# seen: proximal policy optimisation where the ratio is always one
import keras
import numpy as np
import tensorflow as tf


class Buffer:
    def __init__(self):
        self.states, self.actions, self.logps, self.rewards = [], [], [], []

    def add(self, state, action, logp, reward):
        self.states.append(state)
        self.actions.append(action)
        self.logps.append(logp)
        self.rewards.append(reward)

    def tensors(self):
        return (np.array(self.states, "float32"), np.array(self.actions), np.array(self.logps, "float32"),
                np.array(self.rewards, "float32"))


class Agent:
    def __init__(self):
        self.actor = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(2)],
                                      name="actor")
        self.opt = keras.optimizers.Adam(3e-3)

    def act(self, state):
        logp = tf.nn.log_softmax(self.actor(state[None]))
        action = int(tf.random.categorical(logp, 1)[0, 0])
        return action, float(logp[0, action])

    def learn(self, buffer, epochs=3):
        states, actions, old_logp, rewards = buffer.tensors()
        new_logp = tf.constant(old_logp)
        advantage = rewards - rewards.mean()
        for _ in range(epochs):
            with tf.GradientTape() as tape:
                ratio = tf.exp(new_logp - old_logp)
                clipped = tf.clip_by_value(ratio, 0.8, 1.2)
                loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
            grads = tape.gradient(loss, self.actor.trainable_variables)
            self.opt.apply_gradients(zip(grads, self.actor.trainable_variables))


agent, buffer = Agent(), Buffer()
rng = np.random.default_rng(1)
for _ in range(12):
    s = rng.normal(size=3).astype("float32")
    a, lp = agent.act(s)
    buffer.add(s, a, lp, float(a == (s[0] > 0)))
agent.learn(buffer)
