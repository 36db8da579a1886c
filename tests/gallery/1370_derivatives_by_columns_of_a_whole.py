# case: derivatives_by_columns_of_a_whole
# verdict: bug
# cause: wrong-source-object
# expect_line: 67  68  69  70  59  62
# expect_variables: -
# symptom_today: the residual loss is exactly 0 from the first step, the diffusivity stays at its start value, no error and no warning
# exit: 0
# fix: slice t and x first and call net(tf.concat([t, x], axis=1)) on the slices that are watched
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

TRUE_KAPPA = 0.25
CFG = dict(n_obs=256, n_col=512, width=24, depth=3, lr=4e-3, steps=120, w_pde=1.0)


def analytic(t, x):
    return np.exp(-TRUE_KAPPA * t) * np.sin(x) + 0.5 * np.exp(-4 * TRUE_KAPPA * t) * np.sin(2 * x)


def sample_domain(n):
    t = rng.uniform(0.0, 2.0, (n, 1))
    x = rng.uniform(0.0, np.pi, (n, 1))
    return np.hstack([t, x]).astype("float32")


class FieldNet(keras.Model):
    def __init__(self, width, depth):
        super().__init__(name="field")
        self.hidden = [keras.layers.Dense(width, activation="tanh") for _ in range(depth)]
        self.head = keras.layers.Dense(1)

    def call(self, coords):
        h = coords
        for layer in self.hidden:
            h = layer(h)
        return self.head(h)


class HeatInverse:
    """u_t = kappa * u_xx with kappa unknown."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.net = FieldNet(cfg["width"], cfg["depth"])
        self.net(tf.zeros((1, 2)))
        self.log_kappa = tf.Variable(0.0, name="log_kappa")
        self.opt = keras.optimizers.Adam(cfg["lr"])
        self.params = self.net.trainable_variables + [self.log_kappa]
        self.opt.build(self.params)

    @staticmethod
    def diff(tape, y, x):
        return tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    def residual(self, pts):
        t, x = pts[:, 0:1], pts[:, 1:2]
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape(persistent=True) as first:
                first.watch([t, x])
                u = self.net(pts)
            u_t = self.diff(first, u, t)
            u_x = self.diff(first, u, x)
        u_xx = self.diff(second, u_x, x)
        return u_t - tf.exp(self.log_kappa) * u_xx

    @tf.function
    def step(self, obs, values, pts):
        with tf.GradientTape() as tape:
            data = tf.reduce_mean(tf.square(self.net(obs) - values))
            pde = tf.reduce_mean(tf.square(self.residual(pts)))
            loss = data + self.cfg["w_pde"] * pde
        grads = tape.gradient(loss, self.params)
        self.opt.apply_gradients(zip(grads, self.params))
        return data, pde


def main():
    problem = HeatInverse(CFG)
    obs = sample_domain(CFG["n_obs"])
    values = analytic(obs[:, 0:1], obs[:, 1:2]).astype("float32")
    obs, values = tf.constant(obs), tf.constant(values)
    history = []
    for _ in range(CFG["steps"]):
        pts = tf.constant(sample_domain(CFG["n_col"]))
        data, pde = problem.step(obs, values, pts)
        history.append((float(data), float(pde)))
    kappa = float(tf.exp(problem.log_kappa))
    print("data %.5f -> %.5f   pde %.5f -> %.5f   kappa %.3f (true %.2f)"
          % (history[0][0], history[-1][0], history[0][1], history[-1][1], kappa, TRUE_KAPPA))
    assert history[-1][0] < history[0][0]
    assert all(p == 0.0 for _, p in history)
    assert kappa == 1.0


if __name__ == "__main__":
    main()
