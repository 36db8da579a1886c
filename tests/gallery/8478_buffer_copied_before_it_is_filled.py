# case: reinforce_buffer_copied
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the buffer starts anew from a copy of the zeros, loss falls and return rises
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(72)

# REINFORCE for a thermostat, gradients of a few episodes are collected before the policy is updated.
ROOMS = 16
STEPS = 8
EPISODES_PER_UPDATE = 3
GAMMA = 0.5

policy = keras.Sequential(
    [
        keras.Input((1,)),
        keras.layers.Dense(16, activation="tanh"),
        keras.layers.Dense(3),  # cool, hold, heat
    ]
)
optimizer = keras.optimizers.Adam(0.03)
rng = np.random.default_rng(72)


def reward_of(temp, action):
    wanted = np.where(temp < -0.3, 2, np.where(temp > 0.3, 0, 1))
    return (action == wanted).astype("float32")


def run_episode():
    temp = rng.uniform(-1.5, 1.5, size=ROOMS).astype("float32")
    obs, acts, rewards = [], [], []
    for _ in range(STEPS):
        logits = policy(temp[:, None])
        action = tf.random.categorical(logits, 1)[:, 0].numpy()
        obs.append(temp)
        acts.append(action)
        rewards.append(reward_of(temp, action))
        temp = temp + 0.2 * (action - 1.0) + rng.normal(0.0, 0.4, size=ROOMS)
        temp = np.clip(temp, -2.0, 2.0).astype("float32")
    ret, returns = np.zeros(ROOMS, "float32"), []
    for r in reversed(rewards):
        ret = r + GAMMA * ret
        returns.insert(0, ret)
    return np.concatenate(obs), np.concatenate(acts), np.concatenate(returns)


def policy_loss(obs, acts, returns):
    nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=acts, logits=policy(obs[:, None]))
    return tf.reduce_mean(nll * returns)


zeros = [tf.zeros_like(v) for v in policy.trainable_variables]
grad_buffer = list(zeros)  # a list of its own, zeros is only the template

for episode in range(60):
    obs, acts, returns = run_episode()
    with tf.GradientTape() as tape:
        loss = policy_loss(obs, acts, returns)
    grads = tape.gradient(loss, policy.trainable_variables)

    for i, g in enumerate(grads):
        grad_buffer[i] += g / EPISODES_PER_UPDATE

    if (episode + 1) % EPISODES_PER_UPDATE == 0:
        norm = tf.linalg.global_norm(grad_buffer)
        optimizer.apply_gradients(zip(grad_buffer, policy.trainable_variables))
        if (episode + 1) % 12 == 0:
            print(f"episode {episode + 1:3d}  loss {float(loss):.3f}  mean return {returns.mean():.3f}  |buffer| {float(norm):.3f}")
        grad_buffer = list(zeros)
