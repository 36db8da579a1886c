# case: settings_and_a_log_beside_a_traced_step
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the settings do not change, and what the log counts goes into no tensor
# exit: 0
# fix: -
import argparse

import tensorflow as tf


class Log:
    def __init__(self):
        self.traces, self.best = 0, 9.0

    def note(self):
        self.traces += 1


settings, log = argparse.Namespace(rate=0.1, penalty=0.01, epoch=0), Log()
weight = tf.Variable(1.0, name="weight")


@tf.function
def step():
    log.note()
    with tf.GradientTape() as tape:
        loss = (weight - 3.0) ** 2 + settings.penalty * weight**2
    weight.assign_sub(settings.rate * tape.gradient(loss, weight))
    return loss


for settings.epoch in range(6):
    log.best = min(log.best, float(step()))
    log.traces = 0
assert log.best < 4.0
