# case: summed_micro_batches_in_a_traced_step
# verdict: bug; static: no
# cause: accumulation-no-averaging
# expect_line: 32 33
# expect_variables: net/*
# symptom_today: silent: the step is as long as that of a learning rate four times larger
# exit: 0
# fix: divide the sum by the number of micro-batches before apply_gradients
# seen: gradient accumulation added to a loop, learning rate unchanged
import keras
import numpy as np
import tensorflow as tf

MICRO = 4
keras.utils.set_random_seed(0)
net = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(6, activation="tanh"), keras.layers.Dense(1)], name="net")
twin = keras.models.clone_model(net)
twin.set_weights(net.get_weights())
opt = keras.optimizers.SGD(0.05)


def gradients(model, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    return tape.gradient(loss, model.trainable_variables)


@tf.function
def big_step(x, y):
    sums = [tf.zeros_like(v) for v in net.trainable_variables]
    for xb, yb in zip(tf.split(x, MICRO), tf.split(y, MICRO)):
        sums = [s + g for s, g in zip(sums, gradients(net, xb, yb))]
    opt.apply_gradients(zip(sums, net.trainable_variables))


x = tf.random.normal((32, 5), seed=1)
y = x[:, :1] ** 2
whole = gradients(twin, x, y)
start = [v.numpy() for v in net.trainable_variables]
big_step(x, y)
ratio = np.linalg.norm(start[0] - net.trainable_variables[0].numpy()) / (0.05 * np.linalg.norm(whole[0]))
print(ratio)
assert 3.5 < ratio < 4.5
