# case: advantage_becomes_a_matrix
# verdict: bug; static: no
# cause: loss-shape-broadcast
# expect_line: 39
# expect_variables: - (the loss; policy/* and value/* are trained on all pairs of state and return)
# symptom_today: silent: the advantage is (24, 24)
# exit: 0
# fix: values = tf.squeeze(values, axis=1) before subtracting
# source: floodsung/a2c_cartpole_pytorch#3 (advantages = qs - vs is square; a comment reports the same in TensorFlow), PacktPublishing/Deep-Reinforcement-Learning-Hands-On#74
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class ActorCritic(keras.Model):
    def __init__(self, actions):
        super().__init__()
        self.trunk = keras.layers.Dense(16, activation="relu")
        self.policy = keras.layers.Dense(actions, name="policy")
        self.value = keras.layers.Dense(1, name="value")

    def call(self, s):
        h = self.trunk(s)
        return self.policy(h), self.value(h)


def discounted(rewards, gamma=0.95):
    out, running = np.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running
        out[t] = running
    return tf.constant(out, tf.float32)


def losses(model, states, actions, returns):
    logits, values = model(states)
    advantage = returns - values
    log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
    actor = -tf.reduce_mean(log_prob * tf.stop_gradient(advantage))
    critic = tf.reduce_mean(tf.square(advantage))
    return actor + 0.5 * critic, advantage


rng = np.random.default_rng(0)
model, opt = ActorCritic(3), keras.optimizers.Adam(1e-2)
for episode in range(4):
    states = rng.normal(size=(24, 5)).astype("float32")
    actions = rng.integers(0, 3, size=24)
    returns = discounted(rng.normal(size=24))
    with tf.GradientTape() as tape:
        loss, advantage = losses(model, states, actions, returns)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
print("loss", float(loss), "advantage shape", advantage.shape)
assert advantage.shape == (24, 24)
