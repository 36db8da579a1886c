# case: warping_cost_in_a_numpy_table
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 23
# expect_variables: sequential/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: fill the table with tensors (soft-DTW) instead of an array
# source: tensorflow/tensorflow#30190, tensorflow/tensorflow#36596 (predictions turned into arrays before the loss)
import numpy as np
import tensorflow as tf
import keras
from keras import ops

keras.utils.set_random_seed(5)
net = keras.Sequential([keras.layers.Input((8, 2)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(1e-2)
x = tf.random.normal((2, 8, 2))
target = tf.cumsum(x[..., :1], axis=1)


def dtw(a, b):
    a = ops.convert_to_numpy(a)[:, 0]
    b = ops.convert_to_numpy(b)[:, 0]
    table = np.full((len(a) + 1, len(b) + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = abs(a[i - 1] - b[j - 1])
            table[i, j] = cost + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return ops.convert_to_tensor(table[-1, -1], dtype="float32")


for epoch in range(2):
    with tf.GradientTape() as tape:
        forecast = net(x, training=True)
        loss = ops.mean(ops.stack([dtw(forecast[k], target[k]) for k in range(2)]))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
