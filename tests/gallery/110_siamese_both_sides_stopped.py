# case: siamese_both_sides_stopped
# verdict: bug; static: no
# cause: stop-gradient
# expect_line: 22 23
# expect_variables: backbone/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: stop only the target side of each term
# seen: SimSiam and BYOL re-implementations
from functools import partial

import keras
import tensorflow as tf

backbone = keras.Sequential(
    [keras.layers.Input((10,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(5)], name="backbone"
)
tail = tf.function(partial(tf.math.l2_normalize, axis=-1, epsilon=1e-6))


def negative_cosine(p, z):
    p = tf.stop_gradient(p)
    z = tf.stop_gradient(z)
    return -tf.reduce_mean(tf.reduce_sum(tail(p) * tail(z), axis=-1))


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = keras.optimizers.SGD(0.05, momentum=0.9)

    def step(self, views):
        with tf.GradientTape() as tape:
            one, two = (self.net(v, training=True) for v in views)
            loss = 0.5 * negative_cosine(one, two) + 0.5 * negative_cosine(two, one)
        variables = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss


batch = tf.random.normal((16, 10), seed=6)
Trainer(backbone).step((batch + 0.1, batch * 0.9))
