# case: oscillator_by_forward_mode
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (ForwardAccumulator PINN)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(1)])
log_omega = tf.Variable(0.0, name="log_omega")
params = net.trainable_variables + [log_omega]
opt = keras.optimizers.Adam(1e-2)
t = tf.constant(np.linspace(0, 2, 24)[:, None], tf.float32)
seen_t = tf.constant([[0.0], [0.7], [1.4]])
seen = tf.cos(1.5 * seen_t)


def second_derivative(t):
    with tf.autodiff.ForwardAccumulator(t, tf.ones_like(t)) as forward:
        with tf.GradientTape() as reverse:
            reverse.watch(t)
            u = net(t)
        du = reverse.gradient(u, t)
    return u, forward.jvp(du)


log = []
for it in range(25):
    with tf.GradientTape() as tape:
        u, ddu = second_derivative(t)
        physics = tf.reduce_mean(tf.square(ddu + tf.exp(2.0 * log_omega) * u))
        data = tf.reduce_mean(tf.square(net(seen_t) - seen))
        loss = data + 0.1 * physics
    grads = tape.gradient(loss, params)
    opt.apply_gradients(zip(grads, params))
    log.append(float(loss))
print(log[0], log[-1], float(tf.exp(log_omega)))
assert log[-1] < log[0]
