# case: module_with_hand_written_momentum
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: training without Keras
import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, n_in, n_out, seed, name=None):
        super().__init__(name)
        with self.name_scope:
            self.w = tf.Variable(tf.random.normal((n_in, n_out), stddev=n_in**-0.5, seed=seed), name="w")
            self.b = tf.Variable(tf.zeros((n_out,)), name="b")

    def __call__(self, x):
        return x @ self.w + self.b


class MLP(tf.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = [Dense(a, b, seed=i, name=f"dense_{i}") for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = tf.nn.relu(layer(x))
        return self.layers[-1](x)


class Momentum(tf.Module):
    def __init__(self, variables, rate=0.05, beta=0.9):
        super().__init__()
        self.rate, self.beta = rate, beta
        self.speed = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]

    def apply(self, grads, variables):
        for s, g, v in zip(self.speed, grads, variables):
            s.assign(self.beta * s + g)
            v.assign_sub(self.rate * s)


net = MLP([3, 8, 1])
rule = Momentum(net.trainable_variables)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    rule.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
    return loss


x = tf.random.normal((32, 3), seed=9)
losses = [float(step(x, x[:, :1])) for _ in range(20)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
