# case: attribute_replaced_by_a_tensor
# verdict: bug; static: yes
# cause: variable-rebound
# expect_line: 25
# expect_variables: slope
# symptom_today: the second step raises AttributeError/TypeError: the gradient is None
# exit: 1 (TypeError)
# fix: self.slope.assign_sub(rate * g)
# seen: gradient descent written by hand with tf.Module
import tensorflow as tf


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.slope = tf.Variable(0.0, name="slope")

    def __call__(self, x):
        return self.slope * x

    def improve(self, x, y, rate=0.1):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        g = tape.gradient(loss, self.slope)
        self.slope = self.slope - rate * g
        return loss


line = Line()
x = tf.linspace(-1.0, 1.0, 11)
for epoch in range(3):
    print(epoch, float(line.improve(x, 3.0 * x)))
