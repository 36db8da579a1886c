# case: grpo_ratio_is_one
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: nothing is wrong; the ratio is exactly 1 in every step, but the stopped half leaves the policy gradient whole
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)

N_ACTIONS, OBS = 4, 6
CLIP, BATCH = 0.2, 512

true_map = np.random.normal(size=(OBS, N_ACTIONS)).astype("float32")


class ContextWorld:
    """One-step environment: 1.0 for the right action, 0.0 otherwise."""

    def reset(self, n):
        self.obs = np.random.normal(size=(n, OBS)).astype("float32")
        return tf.constant(self.obs)

    def step(self, actions):
        best = np.argmax(self.obs @ true_map, axis=1)
        return tf.constant((best == actions.numpy()).astype("float32"))


actor = keras.Sequential([
    keras.Input((OBS,)),
    layers.Dense(32, activation="tanh", name="pi_hidden"),
    layers.Dense(N_ACTIONS, name="pi_logits"),
])
actor_opt = keras.optimizers.Adam(1e-2)


def log_prob(obs, actions):
    logp = tf.nn.log_softmax(actor(obs))
    return tf.reduce_sum(logp * tf.one_hot(actions, N_ACTIONS), axis=1)


def update_actor(obs, actions, advantage):
    """One update for each rollout, so the old policy is the policy itself."""
    with tf.GradientTape() as tape:
        new_logp = log_prob(obs, actions)
        old_logp = tf.stop_gradient(new_logp)
        ratio = tf.exp(new_logp - old_logp)
        clipped = tf.clip_by_value(ratio, 1.0 - CLIP, 1.0 + CLIP)
        loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
    grads = tape.gradient(loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    return loss


env = ContextWorld()
for it in range(60):
    obs = env.reset(BATCH)
    actions = tf.random.categorical(actor(obs), 1)[:, 0]
    reward = env.step(actions)
    # a blind guess gets 1 / N_ACTIONS: that is the baseline
    advantage = reward - 1.0 / N_ACTIONS
    pi_loss = update_actor(obs, actions, advantage)
    if it % 10 == 0 or it == 59:
        print(f"iter {it:2d}  reward {float(tf.reduce_mean(reward)):.3f}  pi_loss {float(pi_loss):+.4f}")
