# case: adaptive_weight_poisson
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the weights of the collocation points climb while the network descends (a saddle point, on purpose)
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from dataclasses import dataclass
import numpy as np
import tensorflow as tf

tf.random.set_seed(12)

# Poisson problem -u'' = f on [0, 1] with u(0) = u(1) = 0, and self-adaptive weights: each
# collocation point has a weight that is trained by gradient *ascent* on the same loss, so that
# points with a stubborn residual get more attention.


@dataclass(frozen=True)
class Config:
    points: int = 40
    width: int = 20
    lr_net: float = 5e-3
    lr_mask: float = 5e-3
    steps: int = 500
    boundary: float = 5.0


class Net(tf.Module):
    def __init__(self, width):
        super().__init__(name="u")
        init = tf.keras.initializers.GlorotNormal(seed=4)
        self.w1 = tf.Variable(init((1, width)) * 2.0, name="w1")
        self.b1 = tf.Variable(tf.linspace(-1.0, 1.0, width), name="b1")
        self.w2 = tf.Variable(init((width, width)), name="w2")
        self.b2 = tf.Variable(tf.zeros([width]), name="b2")
        self.w3 = tf.Variable(init((width, 1)), name="w3")
        self.b3 = tf.Variable(tf.zeros([1]), name="b3")

    def __call__(self, x):
        h = tf.tanh((2.0 * x - 1.0) @ self.w1 + self.b1)
        return tf.tanh(h @ self.w2 + self.b2) @ self.w3 + self.b3


class SelfAdaptivePoisson(tf.Module):
    def __init__(self, cfg):
        super().__init__(name="poisson")
        self.cfg = cfg
        self.net = Net(cfg.width)
        self.raw_mask = tf.Variable(tf.zeros([cfg.points, 1]), name="raw_mask")
        self.x = tf.constant(np.linspace(0.0, 1.0, cfg.points)[:, None], tf.float32)
        self.ends = tf.constant([[0.0], [1.0]])
        self.source = np.pi ** 2 * tf.sin(np.pi * self.x)
        self.descend = tf.keras.optimizers.Adam(cfg.lr_net)
        self.ascend = tf.keras.optimizers.Adam(cfg.lr_mask)
        self.descend.build(list(self.net.trainable_variables))
        self.ascend.build([self.raw_mask])

    def curvature(self, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                u = self.net(x)
            u_x = inner.gradient(u, x)
        return outer.gradient(u_x, x)

    def losses(self):
        residual = (self.curvature(self.x) + self.source) / np.pi ** 2
        mask = tf.nn.softplus(self.raw_mask)
        weighted = tf.reduce_mean(mask * tf.square(residual))
        boundary = tf.reduce_mean(tf.square(self.net(self.ends)))
        return weighted + self.cfg.boundary * boundary, tf.reduce_mean(tf.square(residual))

    @tf.function
    def step(self):
        weights = list(self.net.trainable_variables)
        with tf.GradientTape() as tape:
            loss, plain = self.losses()
        grads, mask_grad = tape.gradient(loss, (weights, self.raw_mask))
        self.descend.apply_gradients(zip(grads, weights))
        self.ascend.apply_gradients([(-mask_grad, self.raw_mask)])
        return loss, plain

    def error(self):
        grid = tf.linspace(0.0, 1.0, 101)[:, None]
        return float(tf.reduce_max(tf.abs(self.net(grid) - tf.sin(np.pi * grid))))


cfg = Config()
problem = SelfAdaptivePoisson(cfg)
start_error, start_mask = problem.error(), problem.raw_mask.numpy()
start = [w.numpy() for w in problem.net.trainable_variables]
curve = []
for i in range(cfg.steps):
    loss, plain = problem.step()
    curve.append(float(plain))
    if i % 100 == 0:
        print(f"step {i:3d}  weighted {float(loss):.5f}  residual {curve[-1]:.6f}  error {problem.error():.4f}")

mask = problem.raw_mask.numpy()
print("error %.3f -> %.4f, mask from %.3f to %.3f" % (start_error, problem.error(), mask.min(), mask.max()))
assert curve[-1] < 0.02 * curve[0] and problem.error() < 0.1
assert (mask > start_mask).all()
assert all(np.abs(w.numpy() - s).max() > 1e-3 for w, s in zip(problem.net.trainable_variables, start))
