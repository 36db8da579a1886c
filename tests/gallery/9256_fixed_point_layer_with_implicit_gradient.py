# case: fixed_point_layer_with_implicit_gradient
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (deep equilibrium pattern)
import numpy as np
import tensorflow as tf
import keras

gen = tf.random.Generator.from_seed(0)
dim = 5
w = tf.Variable(0.3 * gen.normal((dim, dim)) / dim ** 0.5, name="w")
u = tf.Variable(gen.normal((dim, dim)) / dim ** 0.5, name="u")
read = tf.Variable(gen.normal((dim, 1)) / dim ** 0.5, name="read")
params = [w, u, read]
opt = keras.optimizers.Adam(2e-2)


@tf.custom_gradient
def equilibrium(x, w, u):
    z = tf.zeros_like(x)
    for _ in range(30):
        z = tf.tanh(z @ w + x @ u)

    def grad(upstream):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([z, x, w, u])
            again = tf.tanh(z @ w + x @ u)
        g = upstream
        for _ in range(30):
            g = upstream + tape.gradient(again, z, output_gradients=g)
        return tape.gradient(again, [x, w, u], output_gradients=g)

    return z, grad


rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(40, dim)), tf.float32)
y = tf.tanh(tf.reduce_sum(x, 1, keepdims=True))
log = []
for it in range(25):
    with tf.GradientTape() as tape:
        z = equilibrium(x, tf.convert_to_tensor(w), tf.convert_to_tensor(u))
        loss = tf.reduce_mean(tf.square(z @ read - y))
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    log.append(float(loss))
print(log[0], log[-1])
assert log[-1] < log[0]
