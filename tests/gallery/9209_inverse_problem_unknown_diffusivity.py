# case: inverse_problem_unknown_diffusivity
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (inverse physics-informed network)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
log_d = tf.Variable(-1.0, name="log_d")                  # the unknown number of the equation, next to the network
net_opt, d_opt = keras.optimizers.Adam(5e-3), keras.optimizers.Adam(2e-2)


def residual(x, t):
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch([x, t])
            u = net(tf.concat([x, t], axis=1))
        u_x, u_t = first.gradient(u, x), first.gradient(u, t)
    return u_t - tf.exp(log_d) * second.gradient(u_x, x)


rng = np.random.default_rng(0)
x, t = (tf.constant(rng.uniform(size=(48, 1)).astype("float32")) for _ in range(2))
measured = tf.exp(-0.5 * np.pi ** 2 * t) * tf.sin(np.pi * x)


@tf.function
def step():
    with tf.GradientTape() as tape:
        fit = tf.reduce_mean(tf.square(net(tf.concat([x, t], 1)) - measured))
        loss = fit + 0.01 * tf.reduce_mean(tf.square(residual(x, t)))
    g_net, g_d = tape.gradient(loss, [net.trainable_variables, log_d])
    net_opt.apply_gradients(zip(g_net, net.trainable_variables))
    d_opt.apply_gradients([(g_d, log_d)])
    return loss


losses = [float(step()) for _ in range(40)]
assert losses[-1] < losses[0] and float(log_d) != -1.0
print("ok", losses[0], losses[-1], float(log_d))
