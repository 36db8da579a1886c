# case: gradients_paired_by_sorted_name
# verdict: bug; static: no
# cause: misrouted-gradient
# expect_line: 31
# expect_variables: amplitude, offset, phase (all of equal shape)
# symptom_today: silent: the pairs are shuffled; the loss goes up
# exit: 0
# fix: keep the order of the list the gradient was asked for
# seen: code that sorts variables to log them
import tensorflow as tf


class Oscillator(tf.Module):
    def __init__(self):
        super().__init__()
        self.phase = tf.Variable(0.3, name="phase")
        self.amplitude = tf.Variable(0.2, name="amplitude")
        self.offset = tf.Variable(-0.5, name="offset")
        self.everything = [self.phase, self.amplitude, self.offset]

    def __call__(self, t):
        return self.amplitude * tf.sin(t + self.phase) + self.offset


def descend(model, t, y, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(t) - y) ** 2)
    gradients = tape.gradient(loss, model.everything)
    by_name = sorted(model.everything, key=lambda v: v.name)
    for v, g in zip(by_name, gradients):
        v.assign_sub(rate * g)
    return float(loss)


t = tf.linspace(0.0, 6.0, 40)
model = Oscillator()
path = [descend(model, t, 2.0 * tf.sin(t) + 1.0, rate=0.1) for _ in range(10)]
print(path[0], path[-1])
assert abs(float(model.offset) - 1.0) > 0.5
