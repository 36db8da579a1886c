# case: matern_kernel_of_inducing_points
# verdict: bug; static: yes
# cause: nan-sqrt|nan-norm
# expect_line: 26 32
# expect_variables: inducing
# symptom_today: the first loss is finite but the inducing points turn NaN; the second step raises InvalidArgumentError: Input matrix is not invertible
# exit: 1 (InvalidArgumentError)
# fix: add a small epsilon under the square root: the diagonal has distance zero
# source: own words, after reports on Matern kernels and pairwise distances (gradient of sqrt at zero)
import numpy as np
import tensorflow as tf
import keras

rng = np.random.default_rng(0)
x = tf.constant(np.linspace(-2, 2, 30)[:, None], tf.float32)
y = tf.sin(2.0 * x) + 0.1 * tf.random.stateless_normal((30, 1), seed=(1, 2))
inducing = tf.Variable(np.linspace(-1.5, 1.5, 6)[:, None], dtype=tf.float32, name="inducing")
log_length = tf.Variable(0.0, name="log_length")
log_noise = tf.Variable(-1.0, name="log_noise")
params = [inducing, log_length, log_noise]
opt = keras.optimizers.Adam(0.02)


def matern12(a, b):
    square = tf.reduce_sum(tf.square(a[:, None, :] - b[None, :, :]), axis=-1)
    return tf.exp(-tf.sqrt(square) / tf.exp(log_length))


@tf.function
def step():
    with tf.GradientTape() as tape:
        k_uu = matern12(inducing, inducing) + 1e-3 * tf.eye(6)
        k_xu = matern12(x, inducing)
        fitted = k_xu @ tf.linalg.solve(k_uu + tf.exp(log_noise) * tf.eye(6), tf.transpose(k_xu) @ y / 30.0)
        loss = tf.reduce_mean(tf.square(fitted - y))
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    return loss


for i in range(2):
    print(i, float(step()))
