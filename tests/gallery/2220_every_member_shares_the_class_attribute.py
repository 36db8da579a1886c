# case: every_member_shares_the_class_attribute
# verdict: bug; static: yes
# cause: aliased-network
# expect_line: 22 32 41
# expect_variables: Member.net/* (one network, not four)
# symptom_today: silent: all members of the ensemble predict the same
# exit: 0
# fix: build the network in __init__, one for each member
# source: keras-team/keras-io#98 (Q model and target shared their weights) and own words
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def build():
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])


class Member:
    net = build()

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.opt = keras.optimizers.Adam(1e-2)

    def fit(self, x, y, steps=10):
        for _ in range(steps):
            pick = self.rng.integers(0, len(x), len(x))
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.net(x[pick]) - y[pick]))
            grads = tape.gradient(loss, self.net.trainable_variables)
            self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return float(loss)


rng = np.random.default_rng(0)
x = rng.normal(size=(60, 2)).astype("float32")
y = np.sin(x[:, :1] * 2).astype("float32")
ensemble = [Member(seed) for seed in range(4)]
for member in ensemble:
    print("loss", member.fit(x, y))
answers = np.stack([m.net(x).numpy() for m in ensemble])
print("spread of the ensemble", answers.std(0).mean())
assert answers.std(0).max() == 0.0
