# case: guard_that_runs_while_tracing
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the shape is noted and printed once, when the step is traced
# exit: 0
# fix: -
import tensorflow as tf


class Net(tf.Module):
    def __init__(self):
        self.built_here = False
        self.scale = tf.Variable(1.0, name="scale")

    def __call__(self, x):
        if not self.built_here:
            print("first called with", x.shape)
            self.width = x.shape[-1]
            self.built_here = True
        return self.scale * x


net = Net()


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - 2.0) ** 2)
    net.scale.assign_sub(0.1 * tape.gradient(loss, net.scale))
    return loss


losses = [float(step(tf.ones((2, 3)))) for _ in range(5)]
assert losses[-1] < losses[0]
