# case: checkpoint_that_was_already_broken
# verdict: bug; static: no
# cause: nan-weights
# expect_line: 19 29
# expect_variables: net/dense/kernel
# symptom_today: silent: the first loss is NaN
# exit: 0
# fix: check the weights after loading them
# seen: resuming from a checkpoint saved after divergence
import keras
import numpy as np
import tensorflow as tf

net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)], name="net")


def restore(model, saved):
    for layer, weights in zip(model.layers, saved):
        layer.set_weights(weights)


saved = [layer.get_weights() for layer in net.layers]
saved[0][0][1, 2] = np.nan
restore(net, saved)
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((20, 3), seed=0)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - x[:, :1]) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
print(float(loss))
assert tf.math.is_nan(loss)
