# case: ppo_clipped_actor
# verdict: bug
# cause: stop-gradient
# expect_line: 42
# expect_variables: -
# symptom_today: which of the log-probabilities and targets must be detached in PPO/SAC and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(7)


class ActorCritic(keras.Model):
    def __init__(self, n_actions):
        super().__init__()
        self.trunk = keras.layers.Dense(32, activation="relu")
        self.policy = keras.layers.Dense(n_actions, name="policy")
        self.value = keras.layers.Dense(1, name="value")

    def call(self, obs):
        h = self.trunk(obs)
        return self.policy(h), tf.squeeze(self.value(h), -1)


def log_prob(logits, actions):
    logp = tf.nn.log_softmax(logits)
    return tf.gather(logp, actions, batch_dims=1)


def collect(model, rng, n=64):
    obs = rng.normal(size=(n, 4)).astype("float32")
    logits, values = model(obs)
    actions = tf.random.categorical(logits, 1, seed=int(rng.integers(1000)))[:, 0]
    reward = (actions.numpy() == (obs[:, 0] > 0)).astype("float32")
    return obs, actions, log_prob(logits, actions), reward, reward - values.numpy()


def surrogate(new_logp, old_logp, advantage, clip=0.2):
    ratio = tf.exp(tf.stop_gradient(new_logp) - old_logp)
    clipped = tf.clip_by_value(ratio, 1.0 - clip, 1.0 + clip)
    return -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))


agent = ActorCritic(2)
agent(np.zeros((1, 4), "float32"))
optimizer = keras.optimizers.Adam(3e-3)
rng = np.random.default_rng(0)

for iteration in range(15):
    obs, actions, old_logp, returns, advantage = collect(agent, rng)
    for epoch in range(3):
        with tf.GradientTape() as tape:
            logits, values = agent(obs)
            actor_loss = surrogate(log_prob(logits, actions), old_logp, advantage)
            critic_loss = tf.reduce_mean(tf.square(returns - values))
            loss = actor_loss + 0.5 * critic_loss
        grads = tape.gradient(loss, agent.trainable_variables)
        optimizer.apply_gradients(zip(grads, agent.trainable_variables))
    if iteration % 5 == 0:
        print(iteration, "mean reward", returns.mean(), "critic", float(critic_loss))
