# case: rate_in_a_namespace_of_settings
# verdict: bug; static: no
# cause: python-state-in-graph
# expect_line: 19
# expect_variables: -
# symptom_today: silent: every step is taken with the rate of the first, which is zero
# exit: 0
# fix: hand the rate to the step as a tensor
import argparse

import tensorflow as tf

settings = argparse.Namespace(rate=0.0, steps=6)
weight = tf.Variable(1.0, name="weight")


@tf.function
def move(gradient):
    weight.assign(weight - settings.rate * gradient)


for step in range(settings.steps):
    settings.rate = 0.02 * step
    with tf.GradientTape() as tape:
        loss = (weight - 3.0) ** 2
    move(tape.gradient(loss, weight))
assert weight.numpy() == 1.0
