# case: soft_update_of_a_loop_name
# verdict: bug; static: yes
# cause: variable-rebound
# expect_line: 24
# expect_variables: target/* (never changes)
# symptom_today: silent: the target network keeps its first weights
# exit: 0
# fix: t.assign(tau * w + (1 - tau) * t)
# source: MorvanZhou/Reinforcement-learning-with-tensorflow#106 (target parameters are never updated after initialisation), ageron/handson-ml2#89 (soft update that leaves the target as it was)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
GAMMA, TAU = 0.9, 0.05


def q_network(name):
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)], name=name)


def soft_update(target, online, tau=TAU):
    for t, w in zip(target.trainable_variables, online.trainable_variables):
        t = tau * w + (1.0 - tau) * t


online, target = q_network("online"), q_network("target")
target.set_weights(online.get_weights())
opt = keras.optimizers.Adam(1e-2)
rng = np.random.default_rng(0)
start = [w.copy() for w in target.get_weights()]

for step in range(12):
    s, s2 = rng.normal(size=(32, 4)).astype("float32"), rng.normal(size=(32, 4)).astype("float32")
    a, r = rng.integers(0, 2, size=32), s[:, 0]
    goal = r + GAMMA * tf.reduce_max(target(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(q - tf.stop_gradient(goal)))
    opt.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
    soft_update(target, online)
moved = any((a != b).any() for a, b in zip(start, target.get_weights()))
print("loss", float(loss), "target moved:", moved)
assert not moved
