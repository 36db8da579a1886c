# case: gust_covariance_factor_built_in_init
# verdict: bug
# cause: outside-tape
# expect_line: 35
# expect_variables: raw_tril
# symptom_today: the mean vector is fitted but the entries of the Cholesky factor get a None gradient in every step and never move
# exit: 0
# fix: build the factor from raw_tril inside log_prob (a property or method) so that it is computed while the tape records
# source: tensorflow/probability issues 1165 and 681 (gradient is None for scale parameters transformed before the tape is opened)
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
import numpy as np
import keras
import tensorflow as tf

keras.utils.set_random_seed(31)


def fill_lower(raw, dim):
    """Vector of n(n+1)/2 numbers -> lower triangle with a positive diagonal."""
    rows, cols = np.tril_indices(dim)
    mat = tf.scatter_nd(np.stack([rows, cols], axis=1), raw, [dim, dim])
    diag = tf.nn.softplus(tf.linalg.diag_part(mat)) + 1e-3
    return tf.linalg.set_diag(mat, diag)


class CorrelatedGaussian(tf.Module):
    """Multivariate normal for the three wind components (u, v, w)."""

    def __init__(self, dim, name="gust"):
        super().__init__(name=name)
        self.dim = dim
        self.mean = tf.Variable(tf.zeros([dim]), name="mean")
        self.raw_tril = tf.Variable(0.1 * tf.ones([dim * (dim + 1) // 2]), name="raw_tril")
        self.scale_tril = fill_lower(self.raw_tril, dim)

    def log_prob(self, obs):
        centred = tf.transpose(obs - self.mean)
        white = tf.linalg.triangular_solve(self.scale_tril, centred, lower=True)
        log_det = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(self.scale_tril)))
        maha = tf.reduce_sum(tf.square(white), axis=0)
        return -0.5 * maha - log_det - 0.5 * self.dim * math.log(2.0 * math.pi)


def simulate_gusts(n=600, seed=4):
    rng = np.random.default_rng(seed)
    true_mean = np.array([1.2, -0.6, 0.3])
    factor = np.array([[1.5, 0.0, 0.0], [0.9, 0.8, 0.0], [-0.4, 0.3, 0.5]])
    return (true_mean + rng.normal(size=(n, 3)) @ factor.T).astype("float32"), true_mean


def fit(dist, obs, steps=150, lr=0.05):
    opt = keras.optimizers.Adam(lr)
    params = [dist.mean, dist.raw_tril]
    curve = []
    for step in range(steps):
        with tf.GradientTape() as tape:
            nll = -tf.reduce_mean(dist.log_prob(obs))
        grads = tape.gradient(nll, params)
        opt.apply_gradients(zip(grads, params))
        curve.append(float(nll))
        if step % 50 == 0:
            print(f"step {step:4d}  nll {curve[-1]:.4f}  mean {dist.mean.numpy().round(3)}")
    return curve, grads


if __name__ == "__main__":
    data, true_mean = simulate_gusts()
    model = CorrelatedGaussian(3)
    before = model.raw_tril.numpy().copy()
    history, last_grads = fit(model, tf.constant(data))
    print("fitted covariance\n", (model.scale_tril @ tf.transpose(model.scale_tril)).numpy().round(2))
    print("sample covariance\n", np.cov(data.T).round(2))

    assert np.allclose(model.mean.numpy(), true_mean, atol=0.25)
    assert last_grads[0] is not None and last_grads[1] is None
    assert np.array_equal(before, model.raw_tril.numpy())
