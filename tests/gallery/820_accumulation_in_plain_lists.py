# case: accumulation_in_plain_lists
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: accumulation with Python lists, weighted by the size of each piece
import keras
import numpy as np
import tensorflow as tf

net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.05)


def gradients(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    return tape.gradient(loss, net.trainable_variables)


def pieces(x, y, sizes):
    start = 0
    for size in sizes:
        yield x[start : start + size], y[start : start + size]
        start += size


x = tf.random.normal((20, 4), seed=1)
y = x[:, :1] * x[:, 1:2]
for _ in range(3):
    whole = gradients(x, y)
    totals = [tf.zeros_like(v) for v in net.trainable_variables]
    for xb, yb in pieces(x, y, sizes=(8, 8, 4)):
        totals = [t + g * (len(xb) / 20.0) for t, g in zip(totals, gradients(xb, yb))]
    assert all(np.allclose(t, w, atol=1e-5) for t, w in zip(totals, whole))
    opt.apply_gradients(zip(totals, net.trainable_variables))
print("equal to the whole batch")
