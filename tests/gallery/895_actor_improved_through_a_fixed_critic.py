# case: actor_improved_through_a_fixed_critic
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: deterministic policy gradients with a replay buffer
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)


class DDPG:
    def __init__(self):
        self.actor = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(16, activation="relu"),
                                       keras.layers.Dense(1, activation="tanh")])
        self.critic = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(24, activation="relu"),
                                        keras.layers.Dense(1)])
        self.actor_opt, self.critic_opt = keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.02)
        self.buffer = []

    def act(self, state, noise):
        action = self.actor(state[None])[0].numpy()
        return np.clip(action + noise, -1.0, 1.0).astype("float32")

    def remember(self, *transition):
        self.buffer.append(transition)

    def replay(self, rng, size=32):
        rows = [self.buffer[i] for i in rng.integers(0, len(self.buffer), size)]
        return self.update(*(tf.constant(np.stack(column), tf.float32) for column in zip(*rows)))

    @tf.function
    def update(self, s, a, r):
        with tf.GradientTape() as tape:
            q = self.critic(tf.concat([s, a], axis=1), training=True)
            critic_loss = tf.reduce_mean((q - r) ** 2)
        grads = tape.gradient(critic_loss, self.critic.trainable_variables)
        self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in self.actor.trainable_variables])
            value = self.critic(tf.concat([s, self.actor(s, training=True)], axis=1))
            actor_loss = -tf.reduce_mean(value)
        grads = tape.gradient(actor_loss, [v.value for v in self.actor.trainable_variables])
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        return critic_loss


rng = np.random.default_rng(3)
agent = DDPG()
for _ in range(64):
    s = rng.normal(size=2).astype("float32")
    a = agent.act(s, rng.normal(0, 0.3, size=1))
    agent.remember(s, a, -((a - np.tanh(s[:1])) ** 2))
losses = [float(agent.replay(rng)) for _ in range(25)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
