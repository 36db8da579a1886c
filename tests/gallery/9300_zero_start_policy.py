# case: grpo_zero_loss_start
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the first loss of every rollout is 0.0 because the ratio is one and group advantages sum to zero, but the gradient is not zero
# exit: 0
# fix: -
# source: bbruceyuan/Hands-On-Large-Language-Models-CN#9 (and huggingface/open-r1#239), GRPO loss is 0 in the first step, the gradients are not
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(23)

CONFIG = {"prompts": 16, "group": 8, "answers": 6, "clip": 0.2, "inner": 3, "rounds": 40, "lr": 1e-2}


class PromptBank:
    """A prompt is a vector; the best of six answers is the one it points at."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.keys = self.rng.normal(size=(CONFIG["answers"], 5)).astype("float32")

    def draw(self, n):
        prompts = self.rng.normal(size=(n, 5)).astype("float32")
        return prompts, (prompts @ self.keys.T).argmax(1)


def build_policy():
    return keras.Sequential(
        [keras.Input((5,)), layers.Dense(32, activation="tanh", name="trunk"), layers.Dense(CONFIG["answers"], name="answer")]
    )


def log_prob(policy, prompts, answers):
    logits = policy(prompts, training=True)
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=answers, logits=logits)


def rollout(policy, bank):
    prompts, best = bank.draw(CONFIG["prompts"])
    x = np.repeat(prompts, CONFIG["group"], axis=0)
    answers = tf.random.categorical(policy(x), 1, dtype=tf.int32)[:, 0]
    reward = (answers.numpy() == np.repeat(best, CONFIG["group"])).astype("float32")
    by_group = reward.reshape(CONFIG["prompts"], CONFIG["group"])
    advantage = (by_group - by_group.mean(1, keepdims=True)) / (by_group.std(1, keepdims=True) + 1e-4)
    old = tf.stop_gradient(log_prob(policy, x, answers))
    return x, answers, advantage.reshape(-1), old, reward.mean()


def grpo_loss(policy, x, answers, advantage, old):
    ratio = tf.exp(log_prob(policy, x, answers) - old)
    limited = tf.clip_by_value(ratio, 1 - CONFIG["clip"], 1 + CONFIG["clip"])
    return -tf.reduce_mean(tf.minimum(ratio * advantage, limited * advantage))


bank, policy = PromptBank(), build_policy()
optimizer = keras.optimizers.Adam(CONFIG["lr"])
start = [v.numpy() for v in policy.trainable_variables]
rewards, first_losses, first_norms = [], [], []

for turn in range(CONFIG["rounds"]):
    *batch, reward = rollout(policy, bank)
    rewards.append(reward)
    for inner in range(CONFIG["inner"]):
        with tf.GradientTape() as tape:
            loss = grpo_loss(policy, *batch)
        grads = tape.gradient(loss, policy.trainable_variables)
        if inner == 0:
            first_losses.append(float(loss))
            first_norms.append(float(tf.linalg.global_norm(grads)))
        optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    if turn % 10 == 0:
        print(f"round {turn:2d}  reward {reward:.2f}  first loss {first_losses[-1]:+.6f}  norm {first_norms[-1]:.3f}")

print("reward: first rounds %.2f, last rounds %.2f" % (np.mean(rewards[:5]), np.mean(rewards[-5:])))
assert np.max(np.abs(first_losses)) < 1e-5 and np.min(first_norms) > 1e-3
assert np.mean(rewards[-5:]) > np.mean(rewards[:5]) + 0.3
assert all(not np.allclose(s, v.numpy()) for s, v in zip(start, policy.trainable_variables))
