# case: heat_equation_sliced_after_forward
# verdict: bug; static: no
# cause: wrong-source-object
# expect_line: 30 31 32
# expect_variables: x, t (columns sliced from points)
# symptom_today: raises TypeError: Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to be differentiated, but received None.
# exit: 1 (TypeError)
# fix: split x and t first, watch them, and feed tf.concat([x, t], 1) to the network
# source: tensorflow/tensorflow#31891 (gradient with respect to input_x[:, 1] is None)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class HeatPINN:
    def __init__(self, alpha=0.1):
        self.alpha = alpha
        self.net = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(16, activation="tanh"),
                                     keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
        self.opt = keras.optimizers.Adam(1e-3)

    def residual(self, points):
        with tf.GradientTape() as second:
            second.watch(points)
            with tf.GradientTape(persistent=True) as first:
                first.watch(points)
                u = self.net(points)
                x, t = points[:, 0:1], points[:, 1:2]
            u_x = first.gradient(u, x)
            u_t = first.gradient(u, t)
        u_xx = second.gradient(u_x, x)
        return u_t - self.alpha * u_xx

    def train_step(self, points, boundary, values):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.residual(points)))
            loss += tf.reduce_mean(tf.square(self.net(boundary) - values))
        weights = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss


rng = np.random.default_rng(0)
points = tf.constant(rng.uniform(size=(32, 2)).astype("float32"))
boundary = tf.constant(np.stack([rng.uniform(size=16), np.zeros(16)], 1).astype("float32"))
values = tf.sin(np.pi * boundary[:, :1])
pinn = HeatPINN()
for epoch in range(3):
    print(epoch, float(pinn.train_step(points, boundary, values)))
