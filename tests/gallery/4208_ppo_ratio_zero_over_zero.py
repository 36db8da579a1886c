# case: ppo_ratio_zero_over_zero
# verdict: bug; static: no
# cause: nan-division
# expect_line: 35
# expect_variables: actor/* (NaN)
# symptom_today: silent: actor loss nan, then nan actions
# exit: 0
# fix: ratio = tf.exp(log_prob - old_log_prob)
# source: MorvanZhou/Reinforcement-learning-with-tensorflow#163 (ratio = pi.prob(a) / oldpi.prob(a) gives nan), #187 and #137 of the same repository (actions become nan)
import math
import numpy as np
import tensorflow as tf
import keras


class PPO:
    def __init__(self, state_dim, clip=0.2):
        self.actor = keras.Sequential([keras.layers.Input((state_dim,)), keras.layers.Dense(16, activation="relu"),
                                       keras.layers.Dense(2)], name="actor")
        self.old_actor = keras.models.clone_model(self.actor)
        self.opt = keras.optimizers.Adam(1e-3)
        self.clip = clip

    @staticmethod
    def density(net, states, actions):
        mean, raw = tf.split(net(states), 2, axis=1)
        sigma = tf.nn.softplus(raw) + 1e-2
        gap = (actions - mean) / sigma
        return tf.exp(-0.5 * tf.square(gap)) / (sigma * math.sqrt(2.0 * math.pi))

    def update(self, states, actions, advantage):
        self.old_actor.set_weights(self.actor.get_weights())
        for _ in range(3):
            with tf.GradientTape() as tape:
                ratio = self.density(self.actor, states, actions) / self.density(self.old_actor, states, actions)
                clipped = tf.clip_by_value(ratio, 1.0 - self.clip, 1.0 + self.clip)
                loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
            grads = tape.gradient(loss, self.actor.trainable_variables)
            self.opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        return float(loss)


keras.utils.set_random_seed(0)
agent = PPO(4)
rng = np.random.default_rng(0)
states = tf.constant(rng.normal(size=(24, 4)), tf.float32)
actions = tf.constant(rng.normal(size=(24, 1)), tf.float32)
actions = tf.tensor_scatter_nd_update(actions, [[5]], [[60.0]])       # the joystick can be pushed far out
advantage = tf.constant(rng.normal(size=(24, 1)), tf.float32)
print("actor loss", agent.update(states, actions, advantage))
assert np.isnan(agent.actor.get_weights()[0]).any()
