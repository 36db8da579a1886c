# case: best_model_is_the_same_object
# verdict: bug; static: no
# cause: aliased-network
# expect_line: 18 27
# expect_variables: - (the target critic is the critic)
# symptom_today: silent: the slow copy moves as fast as the original
# exit: 0
# fix: keras.models.clone_model + set_weights
# seen: DDPG and TD3 agents that hold their networks in attributes
import keras
import numpy as np
import tensorflow as tf


class Agent:
    def __init__(self, observation=3, gamma=0.95, tau=0.01):
        self.critic = keras.Sequential([keras.layers.Input((observation,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
        self.target_critic = self.critic
        self.opt = keras.optimizers.Adam(1e-2)
        self.gamma, self.tau = gamma, tau

    def soft_update(self):
        for slow, fast in zip(self.target_critic.variables, self.critic.variables):
            slow.assign(self.tau * fast.value + (1 - self.tau) * slow.value)

    def learn(self, s, r, s2):
        bootstrapped = r + self.gamma * self.target_critic(s2)
        with tf.GradientTape() as tape:
            td = self.critic(s) - tf.stop_gradient(bootstrapped)
            loss = tf.reduce_mean(td**2)
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        self.soft_update()


agent = Agent()
old = agent.target_critic.get_weights()[0].copy()
s, s2 = tf.random.normal((2, 16, 3), seed=1)
for _ in range(3):
    agent.learn(s, tf.ones((16, 1)), s2)
gap = np.abs(agent.target_critic.get_weights()[0] - old).max()
print(gap)
assert gap > 5e-3
