# case: outer_tape_does_not_watch_the_points
# verdict: bug; static: no
# cause: unwatched-source
# expect_line: 24
# expect_variables: x (a tensor of collocation points)
# symptom_today: the second derivative is None; adding it raises ValueError
# exit: 1 (ValueError)
# fix: outer.watch(x) as well, before the network is called
# seen: physics-informed networks with two nested tapes
import numpy as np
import tensorflow as tf
import keras

net = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
adam = keras.optimizers.Adam(1e-3)


def residual(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = net(x)
        u_x = inner.gradient(u, x)
    u_xx = outer.gradient(u_x, x)
    return u_xx + np.pi**2 * tf.sin(np.pi * x)


def train_step(x, edges):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(residual(x) ** 2) + tf.reduce_mean(net(edges) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    adam.apply_gradients(zip(grads, net.trainable_variables))
    return loss


points = tf.reshape(tf.linspace(-1.0, 1.0, 21), (-1, 1))
for epoch in range(2):
    print(epoch, train_step(points, tf.constant([[-1.0], [1.0]])))
