# case: ppo_old_policy_is_the_same_object
# verdict: bug
# cause: aliased-network | zero-gradient-op
# expect_line: 44
# expect_variables: -
# symptom_today: the list multiplication gives one network twice, the probability ratio is 1 for ever, its gradient is exactly zero and the policy never moves.
# exit: 0
# fix: build two networks ([policy_mlp() for _ in range(2)]) and copy the weights across before each round of epochs.
# source: GitHub abhisheksuran/Reinforcement_Learning #4, tensorforce #312 and MorvanZhou #108: PPO's ratio of new to old policy is always one.
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)

N_PRODUCTS, N_FEATURES = 5, 8
preference = np.random.default_rng(1).normal(size=(N_FEATURES, N_PRODUCTS))


def visitors(n):
    return rng.normal(size=(n, N_FEATURES)).astype("float32")


def clicks(features, shown):
    """Reward 1 with a probability that depends on the visitor and on the product shown."""
    taste = features @ preference
    p = 1.0 / (1.0 + np.exp(-1.5 * taste[np.arange(len(shown)), shown]))
    return (rng.random(len(shown)) < p).astype("float32")


def policy_mlp():
    return keras.Sequential([layers.Input((N_FEATURES,)),
                             layers.Dense(32, activation="tanh"),
                             layers.Dense(N_PRODUCTS)], name="policy")


class PPORecommender:
    def __init__(self, clip=0.2, epochs=6, lr=3e-3):
        self.clip, self.epochs = clip, epochs
        self.policy, self.policy_old = [policy_mlp()] * 2
        self.baseline = keras.Sequential([layers.Input((N_FEATURES,)),
                                          layers.Dense(32, activation="tanh"),
                                          layers.Dense(1)], name="baseline")
        self.policy_opt = keras.optimizers.Adam(lr)
        self.baseline_opt = keras.optimizers.Adam(lr)

    def show(self, features):
        return tf.random.categorical(self.policy_old(features), 1)[:, 0].numpy()

    @staticmethod
    def log_likelihood(net, features, shown):
        logits = net(features)
        return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=shown, logits=logits)

    @tf.function
    def improve(self, features, shown, advantage):
        with tf.GradientTape() as tape:
            new = self.log_likelihood(self.policy, features, shown)
            old = self.log_likelihood(self.policy_old, features, shown)
            ratio = tf.exp(new - old)
            clipped = tf.clip_by_value(ratio, 1.0 - self.clip, 1.0 + self.clip)
            objective = tf.minimum(ratio * advantage, clipped * advantage)
            loss = -tf.reduce_mean(objective)
        variables = self.policy.trainable_variables
        grads = tape.gradient(loss, variables)
        self.policy_opt.apply_gradients(zip(grads, variables))
        return ratio, tf.linalg.global_norm(grads)

    @tf.function
    def fit_baseline(self, features, reward):
        with tf.GradientTape() as tape:
            mse = tf.reduce_mean(tf.square(tf.squeeze(self.baseline(features), 1) - reward))
        variables = self.baseline.trainable_variables
        self.baseline_opt.apply_gradients(zip(tape.gradient(mse, variables), variables))
        return mse

    def update(self, features, shown, reward):
        advantage = reward - self.baseline(features).numpy()[:, 0]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        f, a = tf.constant(features), tf.constant(shown.astype("int32"))
        self.policy_old.set_weights(self.policy.get_weights())
        for _ in range(self.epochs):
            ratio, norm = self.improve(f, a, tf.constant(advantage.astype("float32")))
            self.fit_baseline(f, tf.constant(reward))
        return ratio.numpy(), float(norm)


agent = PPORecommender()
start = [w.copy() for w in agent.policy.get_weights()]
ctr = []
for round_ in range(50):
    feats = visitors(512)
    shown = agent.show(feats)
    reward = clicks(feats, shown)
    ratio, norm = agent.update(feats, shown, reward)
    ctr.append(reward.mean())
    if round_ % 10 == 0:
        print(round_, "click rate", ctr[-1], "ratio span", ratio.min(), ratio.max(), "grad norm", norm)

assert np.allclose(ratio, 1.0)
assert norm < 1e-6
assert np.mean(ctr[-10:]) < np.mean(ctr[:10]) + 0.05
assert max(np.abs(a - b).max() for a, b in zip(start, agent.policy.get_weights())) < 1e-2
