# case: kalman_numpy_beside_the_path
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; NumPy is used for constants and for a log of the gains only, the likelihood is all TensorFlow
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(82)

# Learn the noise levels of a Kalman filter (constant velocity, two sensors with a known cross-talk)
# by maximum likelihood of the innovations.
DT = 1.0
LENGTH = 28
CROSS_TALK = np.array([[1.0, 0.2], [0.1, 1.0]], "float32")


def make_track():
    rng = np.random.default_rng(82)
    pos, vel, raw = 0.0, 0.05, []
    for _ in range(LENGTH):
        vel += rng.normal(0.0, 0.05)
        pos += DT * vel
        clean = np.array([pos, vel]) + rng.normal(0.0, [0.3, 0.3])
        raw.append(CROSS_TALK @ clean)
    return np.array(raw, "float32")


class KalmanFilter(tf.Module):
    def __init__(self):
        super().__init__(name="kalman")
        self.log_q = tf.Variable(0.0, name="log_q")
        self.log_r = tf.Variable(1.0, name="log_r")
        self.F = tf.constant([[1.0, DT], [0.0, 1.0]])
        self.Q0 = tf.constant([[0.25, 0.5], [0.5, 1.0]])

    def negative_log_likelihood(self, z):
        Q = tf.exp(self.log_q) * self.Q0
        R = tf.exp(self.log_r) * tf.eye(2)
        m = z[0][:, None]
        P = tf.eye(2)
        nll = 0.0
        gains = []
        for t in range(1, LENGTH):
            m = self.F @ m
            P = self.F @ P @ tf.transpose(self.F) + Q
            S = P + R
            S_inv = tf.linalg.inv(S)
            K = P @ S_inv
            gains.append(np.linalg.norm(K.numpy()))  # for the plot only
            nu = z[t][:, None] - m
            nll += 0.5 * (tf.matmul(nu, S_inv @ nu, transpose_a=True)[0, 0] + tf.math.log(tf.linalg.det(S)))
            m = m + K @ nu
            P = (tf.eye(2) - K) @ P
        return nll / (LENGTH - 1), gains


# undo the cross-talk of the sensors once, it is known
unmix = np.linalg.inv(CROSS_TALK)
track = tf.constant(make_track() @ unmix.T)

kf = KalmanFilter()
optimizer = keras.optimizers.Adam(0.15)
for step in range(24):
    with tf.GradientTape() as tape:
        loss, gains = kf.negative_log_likelihood(track)
    grads = tape.gradient(loss, kf.trainable_variables)
    optimizer.apply_gradients(zip(grads, kf.trainable_variables))
    if step % 5 == 0 or step == 23:
        print(
            f"step {step:2d}  nll {float(loss):.4f}  q {float(tf.exp(kf.log_q)):.4f}"
            f"  r {float(tf.exp(kf.log_r)):.4f}  mean gain {np.mean(gains):.3f}"
        )
