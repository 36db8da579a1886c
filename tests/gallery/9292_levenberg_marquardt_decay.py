# case: levenberg_marquardt_decay
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; own second-order optimizer that tries a step, and takes it back when the error grew
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from dataclasses import dataclass
import numpy as np
import tensorflow as tf

tf.random.set_seed(5)

# Fluorescence decay: background + sum of exponentials, fitted by Levenberg-Marquardt with the
# Jacobian of a tape. The parameters are packed into one vector to solve the normal equations.


@dataclass
class Options:
    iterations: int = 40
    damping: float = 1e-1
    up: float = 5.0
    down: float = 3.0
    prior: float = 1e-3


class Decay(tf.Module):
    def __init__(self, lifetimes):
        super().__init__(name="decay")
        self.log_amplitude = tf.Variable(np.zeros(len(lifetimes)), name="log_amplitude")
        self.log_lifetime = tf.Variable(np.log(lifetimes), name="log_lifetime")
        self.background = tf.Variable(np.zeros(1), name="background")

    def __call__(self, t):
        rates = tf.exp(-self.log_lifetime)
        return self.background + tf.linalg.matvec(tf.exp(-t[:, None] * rates), tf.exp(self.log_amplitude))


class LevenbergMarquardt:
    def __init__(self, variables, options):
        self.variables, self.options = list(variables), options
        self.damping = options.damping
        self.sizes = [int(np.prod(v.shape)) for v in self.variables]

    def jacobian(self, residual_fn):
        with tf.GradientTape() as tape:
            residual = residual_fn()
        blocks = tape.jacobian(residual, self.variables)
        n = residual.shape[0]
        return residual, tf.concat([tf.reshape(b, [n, -1]) for b in blocks], axis=1)

    def shift(self, delta):
        for v, d in zip(self.variables, tf.split(delta, self.sizes)):
            v.assign_add(tf.reshape(d, v.shape))

    def minimise_once(self, residual_fn):
        """One accepted or refused step; returns the error after it and whether it was accepted."""
        residual, jac = self.jacobian(residual_fn)
        before = tf.reduce_mean(tf.square(residual))
        normal = tf.matmul(jac, jac, transpose_a=True)
        rhs = -tf.linalg.matvec(jac, residual, transpose_a=True)
        scaled = normal + self.damping * tf.linalg.diag(tf.linalg.diag_part(normal) + 1e-9)
        kept = [tf.identity(v) for v in self.variables]
        self.shift(tf.linalg.solve(scaled, rhs[:, None])[:, 0])
        after = tf.reduce_mean(tf.square(residual_fn()))
        if after < before:
            self.damping = max(self.damping / self.options.down, 1e-9)
            return float(after), True
        for v, old in zip(self.variables, kept):
            v.assign(old)
        self.damping = min(self.damping * self.options.up, 1e6)
        return float(before), False


def photon_counts(n=120, seed=6):
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 5.0, n)
    clean = 1.5 * np.exp(-t / 0.4) + 0.8 * np.exp(-t / 2.0) + 0.1
    return tf.constant(t), tf.constant(clean + 0.005 * rng.normal(size=n))


def make_residual(model, t, y, options):
    """Data residuals, and weak priors on the logarithms as further residuals."""
    weight = np.sqrt(options.prior)

    def residual():
        priors = tf.concat([model.log_amplitude, model.log_lifetime], 0) * weight
        return tf.concat([model(t) - y, priors], 0)

    return residual


options = Options()
t, y = photon_counts()
model = Decay([0.15, 0.8])
start = [v.numpy().copy() for v in model.trainable_variables]
solver = LevenbergMarquardt(model.trainable_variables, options)
residual_fn = make_residual(model, t, y, options)

first = float(tf.reduce_mean(tf.square(residual_fn())))
curve, accepted = [first], []
for i in range(options.iterations):
    error, good = solver.minimise_once(residual_fn)
    curve.append(error)
    accepted.append(good)
    if i % 5 == 0:
        print(f"iteration {i:2d}  error {error:.3e}  damping {solver.damping:.1e}  {'ok' if good else 'back'}")
    if len(curve) > 6 and curve[-6] - curve[-1] < 1e-12 and solver.damping < 1e3:
        break

lifetimes = np.sort(np.exp(model.log_lifetime.numpy()))
print("error %.3e -> %.3e, lifetimes %s, accepted %d of %d" % (
    first, curve[-1], lifetimes.round(3), sum(accepted), len(accepted)))
assert all(b <= a for a, b in zip(curve, curve[1:])) and curve[-1] < 1e-3 * first
assert abs(lifetimes[0] - 0.4) < 0.08 and abs(lifetimes[1] - 2.0) < 0.3
assert all(np.abs(v.numpy() - s).max() > 1e-3 for v, s in zip(model.trainable_variables, start))
