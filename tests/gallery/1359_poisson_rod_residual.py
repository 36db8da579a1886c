# case: poisson_rod_residual
# verdict: bug
# cause: outside-tape
# expect_line: 34 35
# expect_variables: -
# symptom_today: the residual loss stays at a constant (about 50) for ever; only the boundary loss falls; no warning
# exit: 0
# fix: take the first derivative inside a second tape (or inside the same persistent tape's block) so that it is recorded
# source: tensorflow/tensorflow#31519 and tensorflow/tensorflow#45234
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
PI = float(np.pi)


def build_network(width=24):
    return tf.keras.Sequential([
        tf.keras.Input((1,)),
        tf.keras.layers.Dense(width, activation="tanh", name="hidden_1"),
        tf.keras.layers.Dense(width, activation="tanh", name="hidden_2"),
        tf.keras.layers.Dense(1, name="displacement"),
    ])


def d(tape, y, x):
    return tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)


def field_and_curvature(net, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        u = net(x, training=True)
    u_x = d(tape, u, x)
    u_xx = d(tape, u_x, x)
    del tape
    return u, u_xx


class RodProblem:
    """u'' + pi^2 sin(pi x) = 0 on (0, 1), u(0) = u(1) = 0."""

    def __init__(self, net):
        self.net = net
        self.ends = tf.constant([[0.0], [1.0]])

    def residual(self, x):
        _, u_xx = field_and_curvature(self.net, x)
        return u_xx + PI**2 * tf.sin(PI * x)

    def losses(self, x):
        interior = tf.reduce_mean(tf.square(self.residual(x)))
        boundary = tf.reduce_mean(tf.square(self.net(self.ends, training=True)))
        return interior, boundary


problem = RodProblem(build_network())
optimizer = tf.keras.optimizers.Adam(3e-3)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        interior, boundary = problem.losses(x)
        loss = interior + 50.0 * boundary
    weights = problem.net.trainable_weights
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return interior, boundary


points = tf.constant(np.linspace(0.02, 0.98, 64, dtype="float32")[:, None])
for epoch in range(400):
    interior, boundary = train_step(points)
    if epoch % 80 == 0:
        print(f"epoch {epoch:4d}  residual {float(interior):9.4f}  boundary {float(boundary):.2e}")

grid = np.linspace(0, 1, 5, dtype="float32")[:, None]
print("network ", np.round(problem.net(grid).numpy().ravel(), 3))
print("expected", np.round(np.sin(PI * grid).ravel(), 3))
