# case: ensemble_by_list_multiplication
# verdict: bug; static: yes
# cause: aliased-network
# expect_line: 24
# expect_variables: sequential/* (the members of the ensemble are one network)
# symptom_today: silent: the members never disagree
# exit: 0
# fix: [make_member() for _ in range(size)]
# source: liyaguang/DCRNN#49 ([cell] * n makes n times the same cell with the same weights)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def make_member():
    return keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])


class DeepEnsemble(keras.Model):
    def __init__(self, size):
        super().__init__()
        self.members = [make_member()] * size

    def call(self, x):
        return tf.stack([member(x) for member in self.members])

    def mean_and_spread(self, x):
        votes = self(x)
        return tf.reduce_mean(votes, 0), tf.math.reduce_std(votes, 0)


ensemble = DeepEnsemble(4)
opt = keras.optimizers.Adam(1e-2)
x = tf.constant(np.random.default_rng(0).normal(size=(64, 2)).astype("float32"))
y = x[:, :1] ** 2
for step in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(ensemble(x) - y))
    opt.apply_gradients(zip(tape.gradient(loss, ensemble.trainable_variables), ensemble.trainable_variables))
mean, spread = ensemble.mean_and_spread(x)
print("largest disagreement of the members:", float(tf.reduce_max(spread)), "variables:", len(ensemble.trainable_variables))
assert float(tf.reduce_max(spread)) < 1e-6
