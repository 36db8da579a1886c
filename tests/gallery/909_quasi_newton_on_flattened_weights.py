# case: quasi_newton_on_flattened_weights
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a second-order optimizer outside TensorFlow, fed with flat NumPy vectors
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(8)
net = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
x = tf.reshape(tf.linspace(-2.0, 2.0, 30), (-1, 1))
y = tf.sin(2.0 * x)
shapes = [v.shape for v in net.trainable_variables]
sizes = [int(np.prod(s)) for s in shapes]


def write(flat):
    for v, part, shape in zip(net.trainable_variables, np.split(flat, np.cumsum(sizes)[:-1]), shapes):
        v.assign(part.reshape(shape))


@tf.function
def loss_and_gradient():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    return loss, tf.concat([tf.reshape(g, (-1,)) for g in grads], axis=0)


def f(flat):
    write(flat.astype("float32"))
    loss, grad = loss_and_gradient()
    return float(loss), grad.numpy().astype("float64")


w = np.concatenate([v.numpy().ravel() for v in net.trainable_variables]).astype("float64")
H = np.eye(w.size)
value, g = f(w)
start = value
for iteration in range(25):
    direction, rate = -H @ g, 1.0
    while rate > 1e-6:
        new_value, new_g = f(w + rate * direction)
        if new_value <= value + 1e-4 * rate * g @ direction:
            break
        rate *= 0.5
    s, d = rate * direction, new_g - g
    w, value, g = w + s, new_value, new_g
    if s @ d > 1e-10:
        r = 1.0 / (s @ d)
        V = np.eye(w.size) - r * np.outer(s, d)
        H = V @ H @ V.T + r * np.outer(s, s)
print(start, value)
assert value < 0.5 * start
