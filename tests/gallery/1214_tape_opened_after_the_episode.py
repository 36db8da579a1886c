# case: tape_opened_after_the_episode
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 32 34 40
# expect_variables: dense/*, actor/*, critic/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: open the tape before the episode is played, so that it sees the model calls
# source: keras-team/keras-io#406 (moving the tape next to the loss: No gradients provided)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
obs = keras.Input((4,))
common = keras.layers.Dense(16, activation="relu")(obs)
model = keras.Model(obs, [keras.layers.Dense(2, activation="softmax", name="actor")(common), keras.layers.Dense(1, name="critic")(common)])
optimizer = keras.optimizers.Adam(1e-2)
huber = keras.losses.Huber()


def environment(state, action):
    reward = 1.0 if (state[0] > 0) == (action == 1) else 0.0
    return rng.normal(size=4).astype("float32"), reward


for episode in range(2):
    state = rng.normal(size=4).astype("float32")
    log_probs, values, rewards = [], [], []
    for step in range(10):
        probs, value = model(state[None])
        action = int(rng.choice(2, p=np.squeeze(probs) / np.sum(probs)))
        log_probs.append(tf.math.log(probs[0, action]))
        values.append(value[0, 0])
        state, reward = environment(state, action)
        rewards.append(reward)
    returns = np.cumsum(rewards[::-1])[::-1].astype("float32")

    with tf.GradientTape() as tape:
        losses = []
        for log_prob, value, ret in zip(log_probs, values, returns):
            advantage = ret - value
            losses.append(-log_prob * tf.stop_gradient(advantage) + huber([ret], [value]))
        loss = tf.add_n(losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(episode, float(loss))
