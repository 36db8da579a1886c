# case: lazy_variables_graph
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: variables made on the first call of a tf.function behind a guard
import numpy as np
import tensorflow as tf
import keras

tf.random.set_seed(4)


class LazyDense(tf.Module):
    def __init__(self, units, activation=None, name=None):
        super().__init__(name=name)
        self.units = units
        self.activation = activation
        self.w = None
        self.b = None

    def __call__(self, x):
        if self.w is None:
            limit = np.sqrt(6.0 / (x.shape[-1] + self.units))
            self.w = tf.Variable(tf.random.uniform((x.shape[-1], self.units), -limit, limit, seed=1), name="w")
            self.b = tf.Variable(tf.zeros((self.units,)), name="b")
        y = tf.matmul(x, self.w) + self.b
        return self.activation(y) if self.activation else y


class Regressor(tf.Module):
    def __init__(self):
        super().__init__()
        self.first = LazyDense(16, tf.nn.tanh)
        self.second = LazyDense(1)

    def __call__(self, x):
        return self.second(self.first(x))

    @tf.function
    def train_step(self, x, y, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x) - y))
        variables = [self.first.w, self.first.b, self.second.w, self.second.b]
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(rate * g)
        return loss


rng = np.random.default_rng(3)
x = rng.uniform(-2, 2, size=(200, 3)).astype("float32")
y = (x[:, :1] * 0.7 - np.tanh(2.0 * x[:, 1:2])).astype("float32")
model = Regressor()
rate = tf.constant(0.05)
for epoch in range(20):
    for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(50):
        loss = model.train_step(a, b, rate)
    if epoch % 5 == 0:
        print(epoch, float(loss))
