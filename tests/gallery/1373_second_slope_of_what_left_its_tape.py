# case: advection_diffusion_inverse
# verdict: bug
# cause: outside-tape; also: zero-gradient-op at line 83
# expect_line: 77  76
# expect_variables: -
# symptom_today: the residual loss falls nicely, the diffusivity never leaves its first guess, and u_xx is zero everywhere
# exit: 0
# fix: take u_x while a tape is recording (an outer tape around the inner one) and u_xx from that outer tape
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from dataclasses import dataclass
import numpy as np
import tensorflow as tf

tf.random.set_seed(1)


@dataclass
class Setup:
    width: int = 24
    depth: int = 3
    speed: float = 0.5
    nu_true: float = 0.08
    nu_guess: float = 0.3
    lr: float = 5e-3
    steps: int = 250
    colloc: int = 128
    physics_weight: float = 0.2


def exact_pulse(t, x, cfg):
    """A Gaussian pulse that drifts and spreads."""
    var = 0.05 + 2.0 * cfg.nu_true * t
    return np.sqrt(0.05 / var) * np.exp(-((x + 0.4 - cfg.speed * t) ** 2) / (2.0 * var))


def sample_sensors(cfg, n=200, seed=2):
    rng = np.random.default_rng(seed)
    t, x = rng.uniform(0, 1, (n, 1)), rng.uniform(-1, 1, (n, 1))
    u = exact_pulse(t, x, cfg) + 0.005 * rng.normal(size=(n, 1))
    return [tf.constant(a, tf.float32) for a in (t, x, u)]


class Surrogate(tf.Module):
    def __init__(self, cfg):
        super().__init__(name="surrogate")
        sizes = [2] + [cfg.width] * cfg.depth + [1]
        glorot = tf.keras.initializers.GlorotNormal(seed=3)
        self.kernels = [tf.Variable(glorot((a, b)), name=f"kernel_{i}")
                        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:]))]
        self.biases = [tf.Variable(tf.zeros([b]), name=f"bias_{i}") for i, b in enumerate(sizes[1:])]

    def __call__(self, t, x):
        h = tf.concat([2.0 * t - 1.0, x], axis=1)
        for w, b in zip(self.kernels[:-1], self.biases[:-1]):
            h = tf.tanh(h @ w + b)
        return h @ self.kernels[-1] + self.biases[-1]


class InversePINN(tf.Module):
    """Finds the diffusivity of a tracer from scattered concentration readings."""

    def __init__(self, cfg):
        super().__init__(name="pinn")
        self.cfg = cfg
        self.surrogate = Surrogate(cfg)
        self.log_nu = tf.Variable(np.log(cfg.nu_guess), dtype=tf.float32, name="log_nu")
        self.optimizer = tf.keras.optimizers.Adam(cfg.lr)

    def derivatives(self, t, x):
        zero = tf.UnconnectedGradients.ZERO
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([t, x])
            u = self.surrogate(t, x)
        u_t = tape.gradient(u, t, unconnected_gradients=zero)
        u_x = tape.gradient(u, x, unconnected_gradients=zero)
        u_xx = tape.gradient(u_x, x, unconnected_gradients=zero)
        del tape
        return u_t, u_x, u_xx

    def residual(self, t, x):
        u_t, u_x, u_xx = self.derivatives(t, x)
        return u_t + self.cfg.speed * u_x - tf.exp(self.log_nu) * u_xx

    @tf.function
    def train_step(self, t_d, x_d, u_d, t_c, x_c):
        weights = self.trainable_variables
        with tf.GradientTape() as tape:
            data = tf.reduce_mean(tf.square(self.surrogate(t_d, x_d) - u_d))
            physics = tf.reduce_mean(tf.square(self.residual(t_c, x_c)))
            loss = data + self.cfg.physics_weight * physics
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return data, physics


cfg = Setup()
pinn = InversePINN(cfg)
pinn.optimizer.build(pinn.trainable_variables)
sensors = sample_sensors(cfg)
curve = []
for step in range(cfg.steps):
    t_c = tf.random.uniform((cfg.colloc, 1), seed=5)
    x_c = tf.random.uniform((cfg.colloc, 1), -1.0, 1.0, seed=6)
    data, physics = pinn.train_step(*sensors, t_c, x_c)
    curve.append((float(data), float(physics)))
    if step % 50 == 0:
        print(f"step {step:3d}  data {curve[-1][0]:.5f}  physics {curve[-1][1]:.5f}  nu {np.exp(pinn.log_nu.numpy()):.4f}")

assert curve[-1][0] < 0.2 * curve[0][0]
assert abs(float(tf.exp(pinn.log_nu)) - cfg.nu_guess) < 1e-6

_, _, u_xx = pinn.derivatives(t_c, x_c)
with tf.GradientTape() as outer:
    outer.watch(x_c)
    with tf.GradientTape() as inner:
        inner.watch(x_c)
        u = pinn.surrogate(t_c, x_c)
    slope = inner.gradient(u, x_c)
curvature = outer.gradient(slope, x_c)
print("largest u_xx: used %.3f, true %.3f" % (float(tf.reduce_max(tf.abs(u_xx))), float(tf.reduce_max(tf.abs(curvature)))))
assert float(tf.reduce_max(tf.abs(u_xx))) == 0.0 and float(tf.reduce_max(tf.abs(curvature))) > 0.1
