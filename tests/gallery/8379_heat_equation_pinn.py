# case: heat_equation_pinn
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: second derivatives for a PINN under TensorFlow 2 and
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)


class HeatPINN:
    def __init__(self):
        self.net = keras.Sequential([
            keras.Input((2,)),
            keras.layers.Dense(20, activation="tanh"),
            keras.layers.Dense(20, activation="tanh"),
            keras.layers.Dense(1),
        ])
        self.log_kappa = tf.Variable(np.log(0.3), dtype=tf.float32, name="log_kappa")
        self.optimizer = keras.optimizers.Adam(5e-3)
        self.unknowns = self.net.trainable_variables + [self.log_kappa]
        self.optimizer.build(self.unknowns)

    def residual(self, x, t):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch([x, t])
                u = self.net(tf.concat([x, t], axis=1))
            u_x = inner.gradient(u, x)
            u_t = inner.gradient(u, t)
        u_xx = outer.gradient(u_x, x)
        return u_t - tf.exp(self.log_kappa) * u_xx

    @tf.function
    def train_step(self, x, t, xb, tb, ub):
        with tf.GradientTape() as tape:
            physics = tf.reduce_mean(tf.square(self.residual(x, t)))
            data = tf.reduce_mean(tf.square(self.net(tf.concat([xb, tb], axis=1)) - ub))
            loss = data + 0.1 * physics
        grads = tape.gradient(loss, self.unknowns)
        self.optimizer.apply_gradients(zip(grads, self.unknowns))
        return data, physics


def column(values):
    return tf.constant(np.asarray(values, "float32").reshape(-1, 1))


rng = np.random.default_rng(0)
x, t = column(rng.uniform(0, 1, 100)), column(rng.uniform(0, 1, 100))
xb, tb = rng.uniform(0, 1, 60), rng.uniform(0, 1, 60)
ub = column(np.exp(-0.1 * np.pi ** 2 * tb) * np.sin(np.pi * xb))
problem = HeatPINN()
for i in range(150):
    data, physics = problem.train_step(x, t, column(xb), column(tb), ub)
    if i % 50 == 0:
        print(i, "data", float(data), "physics", float(physics))
print("kappa", float(tf.exp(problem.log_kappa)), "data", float(data))
