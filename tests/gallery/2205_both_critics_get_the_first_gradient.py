# case: both_critics_get_the_first_gradient
# verdict: bug; static: no
# cause: misrouted-gradient
# expect_line: 31 33
# expect_variables: q2/*
# symptom_today: silent: q2 is moved by the gradient of q1, its loss hardly falls (6.1 -> 4.8, that of q1 6.4 -> 1.2)
# exit: 0
# fix: differentiate loss_2 with respect to q2 and apply that to q2
# source: Toni-SM/skrl#425 (one gradient used to update both SAC critics)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def critic(name):
    return keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)], name=name)


class TwinQ:
    def __init__(self):
        self.nets = [critic("q1"), critic("q2")]
        self.opts = [keras.optimizers.Adam(3e-3) for _ in self.nets]

    def learn(self, state_action, target):
        with tf.GradientTape() as tape:
            q1, q2 = (net(state_action) for net in self.nets)
            loss_1 = tf.reduce_mean(tf.square(q1 - target))
            loss_2 = tf.reduce_mean(tf.square(q2 - target))
        grads = tape.gradient(loss_1, self.nets[0].trainable_variables)
        for net, opt in zip(self.nets, self.opts):
            opt.apply_gradients(zip(grads, net.trainable_variables))
        return float(loss_1), float(loss_2)


twin = TwinQ()
rng = np.random.default_rng(0)
sa = tf.constant(rng.normal(size=(64, 5)).astype("float32"))
target = tf.reduce_sum(sa, axis=1, keepdims=True)
log = [twin.learn(sa, target) for _ in range(60)]
print("first", log[0], "last", log[-1])
