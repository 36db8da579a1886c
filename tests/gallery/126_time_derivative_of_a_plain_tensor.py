# case: time_derivative_of_a_plain_tensor
# verdict: bug; static: yes
# cause: unwatched-source
# expect_line: 26 27
# expect_variables: t
# symptom_today: ValueError: the time derivative is None
# exit: 1 (ValueError)
# fix: inner.watch(t) before the network is evaluated
# seen: first physics-informed networks
import keras
import tensorflow as tf

keras.utils.set_random_seed(2)
height = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(10, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(1e-2)


class FreeFall:
    g = 9.81

    def __init__(self, points=20):
        self.t = tf.reshape(tf.linspace(0.0, 1.0, points), (-1, 1))

    def residual(self, net):
        with tf.GradientTape() as inner:
            y = net(self.t)
        velocity = inner.gradient(y, self.t)
        return velocity + self.g * self.t

    def loss(self, net):
        start = net(tf.zeros((1, 1)))
        return tf.reduce_mean(self.residual(net) ** 2) + tf.reduce_sum(start**2)


problem = FreeFall()
with tf.GradientTape() as outer:
    value = problem.loss(height)
opt.apply_gradients(zip(outer.gradient(value, height.trainable_variables), height.trainable_variables))
