# case: relu_network_for_poisson_equation
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 15 27
# expect_variables: x (second derivative exactly 0: the pde term trains nothing)
# symptom_today: silent: u_xx is exactly 0 everywhere, the pde loss is constant
# exit: 0
# fix: an activation with curvature (tanh, swish, sin)
# source: tensorflow/tensorflow#9398 (gradient of a gradient of a LeakyReLU network is all zeros)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.layers.Input((1,))] + [keras.layers.Dense(20, activation="relu") for _ in range(2)]
                       + [keras.layers.Dense(1)])
opt = keras.optimizers.Adam(1e-3)


def second_derivative(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = net(x)
        du = inner.gradient(u, x)
    return outer.gradient(du, x)


x = tf.constant(np.linspace(0, 1, 33, dtype="float32")[:, None])
edge = tf.constant([[0.0], [1.0]])
source = -np.pi ** 2 * tf.sin(np.pi * x)
for step in range(5):
    with tf.GradientTape() as tape:
        pde = tf.reduce_mean(tf.square(second_derivative(x) - source))
        border = tf.reduce_mean(tf.square(net(edge)))
        loss = pde + border
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    print(step, "pde", float(pde), "border", float(border))
assert float(tf.reduce_max(tf.abs(second_derivative(x)))) == 0.0
