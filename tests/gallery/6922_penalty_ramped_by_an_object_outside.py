# case: penalty_ramped_by_an_object_outside
# verdict: bug
# cause: python-state-in-graph
# expect_line: 21 24 46 56
# expect_variables: -
# symptom_today: silent: the penalty of the encoder stays at its first weight, zero, whatever the ramp says
# exit: 0
# fix: hold the epoch of the ramp in a tf.Variable(trainable=False) and assign to it
import numpy as np
import tensorflow as tf


class Ramp:
    """From zero to one over some epochs."""

    def __init__(self, epochs):
        self.epochs = epochs
        self.epoch = 0

    def next(self):
        self.epoch += 1

    def weight(self):
        return min(1.0, self.epoch / self.epochs)


def batches(seed, turns=4):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(3, 6))
    for _ in range(turns):
        yield tf.constant(rng.normal(size=(64, 3)) @ mixing, tf.float32)


def train(epochs=6):
    tf.random.set_seed(1)
    encoder = tf.Variable(tf.random.normal((6, 3), stddev=0.4), name="encoder")
    decoder = tf.Variable(tf.random.normal((3, 6), stddev=0.4), name="decoder")
    ramp = Ramp(epochs=3)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            code = x @ encoder
            error = tf.reduce_mean(tf.square(code @ decoder - x))
            size = tf.reduce_mean(tf.square(code))
            loss = error + 0.3 * ramp.weight() * size
        gradients = tape.gradient(loss, [encoder, decoder])
        for variable, gradient in zip([encoder, decoder], gradients):
            variable.assign_sub(0.05 * gradient)
        return loss, error

    losses = []
    for _ in range(epochs):
        for x in batches(seed=4):
            losses.append([float(each) for each in step(x)])
        ramp.next()
    return losses, ramp


losses, ramp = train()
print(f"weight now {ramp.weight():.1f}, last loss {losses[-1][0]:.3f} of which error {losses[-1][1]:.3f}")
assert ramp.weight() == 1.0
assert all(loss == error for loss, error in losses)
