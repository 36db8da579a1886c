# case: columns_cut_from_the_batch_that_was_read
# verdict: bug; static: no
# cause: wrong-source-object | unwatched-source | outside-tape
# expect_line: 24 26 27 28 29
# expect_variables: x, t (slices of the batch)
# symptom_today: both derivatives are None; the residual raises ValueError
# exit: 1 (ValueError)
# fix: slice first, watch the slices, and call the network on tf.concat([x, t], 1)
# seen: transport equations solved with one input matrix
import keras
import tensorflow as tf


class Transport:
    """u_t + c u_x = 0 with an unknown speed."""

    def __init__(self):
        self.net = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(20, activation="tanh"),
                                     keras.layers.Dense(1)])
        self.speed = tf.Variable(0.5, name="speed")
        self.opt = keras.optimizers.Adam(1e-3)

    def equation(self, batch):
        x, t = batch[:, 0:1], batch[:, 1:2]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, t])
            u = self.net(batch)
        u_x = tape.gradient(u, x)
        u_t = tape.gradient(u, t)
        return u_t + self.speed * u_x

    def train(self, batch):
        variables = self.net.trainable_variables + [self.speed]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.equation(batch) ** 2)
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss


problem = Transport()
print(problem.train(tf.random.uniform((32, 2), seed=1)))
