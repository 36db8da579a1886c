# case: pinn_oscillator
# verdict: bug
# cause: unwatched-source
# expect_line: 33 38
# expect_variables: -
# symptom_today: the second derivative with respect to the input comes back as None
# exit: 1
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)
OMEGA = 2.0


def mlp():
    return keras.Sequential([
        keras.Input((1,)),
        keras.layers.Dense(20, activation="tanh"),
        keras.layers.Dense(20, activation="tanh"),
        keras.layers.Dense(1),
    ])


class Oscillator:
    def __init__(self, points):
        self.net = mlp()
        self.t = tf.constant(points.reshape(-1, 1), tf.float32)
        self.optimizer = keras.optimizers.Adam(1e-3)

    def derivatives(self):
        with tf.GradientTape() as second:
            with tf.GradientTape() as first:
                first.watch(self.t)
                u = self.net(self.t)
            u_t = first.gradient(u, self.t)
        u_tt = second.gradient(u_t, self.t)
        return u, u_t, u_tt

    def residual(self):
        u, _, u_tt = self.derivatives()
        return u_tt + OMEGA ** 2 * u

    def step(self):
        with tf.GradientTape() as tape:
            physics = tf.reduce_mean(tf.square(self.residual()))
            start = tf.square(self.net(tf.zeros((1, 1))) - 1.0)
            loss = physics + tf.reduce_mean(start)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss


problem = Oscillator(np.linspace(0.0, 1.0, 50))
for i in range(30):
    value = problem.step()
    if i % 10 == 0:
        print(i, float(value))
