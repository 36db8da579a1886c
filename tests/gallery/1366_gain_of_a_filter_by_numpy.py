# case: kalman_gain_by_numpy
# verdict: bug
# cause: numpy-escape
# expect_line: 55 66
# expect_variables: log_r
# symptom_today: "Gradients do not exist for variables ['log_r']", log_r never moves (and the gradient of log_q lacks the part through the inverse)
# exit: 0
# fix: tf.linalg.inv(S) instead of np.linalg.inv(S)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(81)

# Learn the process and measurement noise of a constant velocity Kalman filter
# by minimising its one-step prediction error.
DT = 1.0
LENGTH = 40


def make_track():
    rng = np.random.default_rng(81)
    pos, vel, measured = 0.0, 0.2, []
    for _ in range(LENGTH):
        vel += rng.normal(0.0, 0.05)
        pos += DT * vel
        measured.append(pos + rng.normal(0.0, 0.5))
    measured = np.array(measured)
    return ((measured - measured.mean()) / 2.0).astype("float32")


class KalmanFilter(tf.Module):
    def __init__(self):
        super().__init__(name="kalman")
        self.log_q = tf.Variable(0.0, name="log_q")  # process noise
        self.log_r = tf.Variable(0.0, name="log_r")  # measurement noise
        self.F = tf.constant([[1.0, DT], [0.0, 1.0]])
        self.H = tf.constant([[1.0, 0.0]])
        self.G = tf.constant([[0.5 * DT**2], [DT]])

    def predictions(self, z):
        Q = tf.exp(self.log_q) * tf.matmul(self.G, self.G, transpose_b=True)
        R = tf.exp(self.log_r) * tf.eye(1)
        m = tf.stack([z[0], 0.0])[:, None]
        P = tf.eye(2)
        out = []
        for t in range(1, LENGTH):
            # predict
            m = tf.matmul(self.F, m)
            P = self.F @ P @ tf.transpose(self.F) + Q
            z_hat = tf.matmul(self.H, m)
            out.append(z_hat[0, 0])
            # update
            S = self.H @ P @ tf.transpose(self.H) + R
            K = P @ tf.transpose(self.H) @ np.linalg.inv(S)
            m = m + K * (z[t] - z_hat)
            P = (tf.eye(2) - K @ self.H) @ P
        return tf.stack(out)


track = tf.constant(make_track())
kf = KalmanFilter()
optimizer = keras.optimizers.Adam(0.1)
for step in range(24):
    with tf.GradientTape() as tape:
        predicted = kf.predictions(track)
        loss = tf.reduce_mean(tf.square(track[1:] - predicted))
    grads = tape.gradient(loss, kf.trainable_variables)
    optimizer.apply_gradients(zip(grads, kf.trainable_variables))
    if step % 5 == 0 or step == 23:
        print(f"step {step:2d}  loss {float(loss):.4f}  q {float(tf.exp(kf.log_q)):.4f}  r {float(tf.exp(kf.log_r)):.4f}")
