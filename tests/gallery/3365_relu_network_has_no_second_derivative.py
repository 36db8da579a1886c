# case: relu_network_has_no_second_derivative
# verdict: bug
# cause: zero-gradient-op
# expect_line: 32 33 51 52 59
# expect_variables: log_k
# symptom_today: the temperature data are fitted well, but the conductivity has a gradient of exactly zero in every step and stays at its first guess
# exit: 0
# fix: use a smooth activation (tanh, softplus, swish): the second derivative of a ReLU network is zero everywhere, so k * u_xx says nothing about k
# source: CampusAI/Hamiltonian-Generative-Networks issue 68 and tensorflow issue 9398 (second derivatives of rectified networks are all zeros)
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
import tensorflow as tf

keras.utils.set_random_seed(12)

K_TRUE = 0.4
Q = 2.0          # uniform heat source, k u'' + Q = 0 with u(0) = u(1) = 0


def thermocouples(n=64):
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0.0, 1.0, size=(n, 1)), axis=0)
    u = Q / (2 * K_TRUE) * x * (1.0 - x)
    return x.astype("float32"), (u + 0.003 * rng.normal(size=u.shape)).astype("float32")


def build_field():
    return keras.Sequential([
        keras.Input((1,)),
        keras.layers.Rescaling(2.0, offset=-1.0),
        keras.layers.Dense(40, activation="relu", name="hidden_1"),
        keras.layers.Dense(40, activation="relu", name="hidden_2"),
        keras.layers.Dense(1, name="temperature"),
    ])


class RodIdentification:
    def __init__(self, lr=8e-3):
        self.field = build_field()
        self.log_k = tf.Variable(0.0, name="log_k")
        self.optimizer = keras.optimizers.Adam(lr)
        self.x_col = tf.reshape(tf.linspace(0.02, 0.98, 80), [-1, 1])

    def curvature(self, x):
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                u = self.field(x)
            u_x = t1.gradient(u, x)
        return t2.gradient(u_x, x)

    @tf.function
    def step(self, x, u_meas):
        variables = self.field.trainable_variables + [self.log_k]
        with tf.GradientTape() as tape:
            data = tf.reduce_mean(tf.square(self.field(x) - u_meas))
            balance = tf.exp(self.log_k) * self.curvature(self.x_col) + Q
            loss = 10.0 * data + 0.1 * tf.reduce_mean(tf.square(balance))
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(grads, variables))
        return data, tf.reduce_mean(tf.square(balance)), grads[-1]


def main():
    x, u = (tf.constant(a) for a in thermocouples())
    problem = RodIdentification()
    k_grads, misfits = [], []
    for it in range(600):
        misfit, physics, g_k = problem.step(x, u)
        misfits.append(float(misfit))
        k_grads.append(float(g_k))
        if it % 100 == 0:
            print(f"{it:4d} data {misfits[-1]:.5f} pde {float(physics):.4f} "
                  f"k {float(tf.exp(problem.log_k)):.3f}")
    return problem, misfits, k_grads


if __name__ == "__main__":
    rod, misfits, k_grads = main()
    assert misfits[-1] < 0.02 * misfits[0]
    assert np.max(np.abs(k_grads)) == 0.0
    assert float(rod.log_k) == 0.0          # k = 1.0, the truth is 0.4
