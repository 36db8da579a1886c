# case: loss_kept_in_a_weight
# verdict: bug
# cause: assign-breaks-gradient
# expect_line: 24
# expect_variables: w, b
# symptom_today: gradients are None
# exit: 0
# fix: differentiate the value itself, and assign it for display only
# seen: a step that stores its loss to show it, and differentiates what it stored
import keras
import tensorflow as tf


class Regression(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.ones((2, 1)), name="w")
        self.b = tf.Variable(tf.zeros(1), name="b")
        self.last = tf.Variable(0.0, trainable=False, name="last")

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            self.last.assign(tf.reduce_mean((x @ self.w + self.b - y) ** 2))
        gradients = tape.gradient(self.last, [self.w, self.b])
        assert gradients == [None, None]
        return self.last


model = Regression()
x = tf.random.normal((8, 2), seed=1)
for _ in range(3):
    model.step(x, x[:, :1])
