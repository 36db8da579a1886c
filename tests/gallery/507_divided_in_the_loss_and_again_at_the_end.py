# case: divided_in_the_loss_and_again_at_the_end
# verdict: bug; static: no
# cause: accumulation-averaged-twice
# expect_line: 26 38 41
# expect_variables: net/*
# symptom_today: silent: the update is four times too small
# exit: 0
# fix: divide in one place only
# seen: a loss scaled by 1/steps meeting an accumulator that averages
import keras
import numpy as np
import tensorflow as tf


class Accumulator:
    def __init__(self, variables):
        self.sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]
        self.count = 0

    def add(self, grads):
        self.count += 1
        for s, g in zip(self.sums, grads):
            s.assign_add(g)

    def mean(self):
        return [s / self.count for s in self.sums]


net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)], name="net")
opt = keras.optimizers.SGD(0.1)
window = Accumulator(net.trainable_variables)
x = tf.random.normal((16, 3), seed=3)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.abs(net(x) - 1.0))
full = tape.gradient(loss, net.trainable_variables)
for part in tf.split(x, 4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(part) - 1.0)) / 4.0
    window.add(tape.gradient(loss, net.trainable_variables))
mean = window.mean()
opt.apply_gradients(zip(mean, net.trainable_variables))
print(float(tf.norm(mean[0]) / tf.norm(full[0])))
assert np.allclose(mean[0], full[0] / 4.0, atol=1e-5)
