# case: clipped_policy_ratio_with_stored_probabilities
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: proximal policy optimisation with a buffer of arrays
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


class PPO:
    def __init__(self, n_states, n_actions, clip=0.2):
        self.clip = clip
        self.actor = keras.Sequential([keras.layers.Input((n_states,)), keras.layers.Dense(16, "tanh"),
                                       keras.layers.Dense(n_actions)], name="actor")
        self.critic = keras.Sequential([keras.layers.Input((n_states,)), keras.layers.Dense(16, "tanh"),
                                        keras.layers.Dense(1)], name="critic")
        self.actor_opt, self.critic_opt = keras.optimizers.Adam(1e-2), keras.optimizers.Adam(1e-2)

    def act(self, states):
        logits = self.actor(states)
        actions = tf.random.categorical(logits, 1)[:, 0]
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        return actions.numpy(), logp.numpy()

    def learn(self, states, actions, old_logp, rewards, epochs=2, size=16):
        for _ in range(epochs):
            order = np.random.permutation(len(states))
            for i in range(0, len(states), size):
                idx = order[i : i + size]
                self.minibatch(states[idx], actions[idx], old_logp[idx], rewards[idx])

    def minibatch(self, states, actions, old_logp, rewards):
        advantage = rewards - tf.squeeze(self.critic(states), -1)
        with tf.GradientTape() as tape:
            logits = self.actor(states, training=True)
            logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
            ratio = tf.exp(logp - old_logp)
            limited = tf.clip_by_value(ratio, 1.0 - self.clip, 1.0 + self.clip)
            probs = tf.nn.softmax(logits)
            entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.nn.log_softmax(logits), -1))
            loss = -tf.reduce_mean(tf.minimum(ratio * advantage, limited * advantage)) - 0.01 * entropy
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, self.actor.trainable_variables), 0.5)
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        with tf.GradientTape() as tape:
            value_loss = tf.reduce_mean((tf.squeeze(self.critic(states, training=True), -1) - rewards) ** 2)
        grads = tape.gradient(value_loss, self.critic.trainable_variables)
        self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))


agent = PPO(3, 2)
rng = np.random.default_rng(1)
means = []
for iteration in range(5):
    states = rng.normal(size=(64, 3)).astype("float32")
    actions, logp = agent.act(states)
    rewards = (actions == (states[:, 0] > 0)).astype("float32")
    means.append(rewards.mean())
    agent.learn(states, actions, logp, rewards)
print(means)
assert means[-1] > means[0]
