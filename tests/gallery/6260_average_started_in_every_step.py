# case: average_started_in_every_step
# verdict: bug; static: yes
# cause: python-state-in-graph
# expect_line: 20 22
# expect_variables: -
# symptom_today: silent: the traced branch runs in every step, so the average is never more than one step old
# exit: 0
# fix: keep `started` in a tf.Variable and branch with tf.cond, or start the average before the loop
import tensorflow as tf


class Averaged(tf.Module):
    def __init__(self):
        self.started = False
        self.weight = tf.Variable(1.0, name="weight")
        self.average = tf.Variable(0.0, trainable=False, name="average")

    @tf.function
    def step(self, x):
        if not self.started:
            self.average.assign(self.weight)
            self.started = True
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.weight * x - 2.0) ** 2)
        self.weight.assign_sub(0.1 * tape.gradient(loss, self.weight))
        self.average.assign(0.9 * self.average + 0.1 * self.weight)
        return loss


net = Averaged()
for _ in range(5):
    before = float(net.weight)
    net.step(tf.ones((2, 3)))
assert abs(float(net.average) - (0.9 * before + 0.1 * float(net.weight))) < 1e-6
