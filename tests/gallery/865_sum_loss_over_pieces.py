# case: sum_loss_over_pieces
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: summed (not averaged) losses accumulated piece by piece, divided once by the count
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)
net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.05)
data = [(tf.random.normal((n, 3), seed=n), n) for n in (3, 7, 5)]


def sum_gradient(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((net(x) - x[:, :1]) ** 2)
    return float(loss), tape.gradient(loss, net.trainable_variables)


history = []
for _ in range(12):
    totals, seen, value = None, 0, 0.0
    for x, n in data:
        loss, grads = sum_gradient(x)
        totals = grads if totals is None else [a + b for a, b in zip(totals, grads)]
        seen, value = seen + n, value + loss
    opt.apply_gradients([(t / seen, v) for t, v in zip(totals, net.trainable_variables)])
    history.append(value / seen)
print(history[0], history[-1])
assert history[-1] < history[0] and np.isfinite(history).all()
