# case: target_points_to_moving
# verdict: bug
# cause: aliased-network
# expect_line: 33
# expect_variables: moving_net/*
# symptom_today: silent: after the first sync the target net follows the moving net in every update
# exit: 0
# fix: drop the second assignment: copying the weights is the sync
# source: andri27-ts/Reinforcement-Learning#14 (Updating target network - Potential Bug); datawhalechina/easy-rl#140
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
GAMMA, UPDATE_TARGET = 0.9, 10


def dqn(name):
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(24, activation="relu"),
                             keras.layers.Dense(2)], name=name)


class CentralControl:
    def __init__(self):
        self.moving_net = dqn("moving_net")
        self.target_net = dqn("target_net")
        self.target_net.set_weights(self.moving_net.get_weights())
        self.optimizer = keras.optimizers.Adam(1e-3)

    def update_target(self):
        self.target_net.set_weights(self.moving_net.get_weights())
        self.target_net = self.moving_net

    def td_targets(self, rewards, next_obs, dones):
        next_q = tf.reduce_max(self.target_net(next_obs), axis=1)
        return rewards + GAMMA * (1.0 - dones) * next_q

    @tf.function
    def learn(self, obs, actions, targets):
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(self.moving_net(obs) * tf.one_hot(actions, 2), axis=1)
            loss = tf.reduce_mean(tf.square(targets - q))
        grads = tape.gradient(loss, self.moving_net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.moving_net.trainable_variables))
        return loss


def batch(n=32):
    obs = rng.normal(size=(n, 4)).astype("float32")
    actions = rng.integers(0, 2, n).astype("int32")
    rewards = np.where((obs[:, 0] > 0) == (actions == 1), 1.0, 0.0).astype("float32")
    next_obs = (0.8 * obs + 0.2 * rng.normal(size=(n, 4))).astype("float32")
    dones = (rng.random(n) < 0.1).astype("float32")
    return obs, actions, rewards, next_obs, dones


cc = CentralControl()
gaps = []
for step in range(1, 46):
    obs, actions, rewards, next_obs, dones = batch()
    loss = cc.learn(obs, actions, cc.td_targets(rewards, next_obs, dones))
    gaps.append(max(np.abs(a - b).max() for a, b in
                    zip(cc.moving_net.get_weights(), cc.target_net.get_weights())))
    if step % UPDATE_TARGET == 0:
        cc.update_target()
print("gap before the first sync", gaps[8], "five steps after the last", gaps[-1], "loss", float(loss))
assert gaps[8] > 0 and all(g == 0 for g in gaps[10:])
