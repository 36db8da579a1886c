# case: averaged_weights_left_in_for_the_backward_pass
# verdict: bug; static: no
# cause: assign-between-forward-and-gradient
# expect_line: 25 32 34 35
# expect_variables: dense/*, dense_1/* (every variable of net)
# symptom_today: silent: the backward pass and the update meet the averaged weights, not those of the loss
# exit: 0
# fix: swap the averages in only after the update, in an evaluation of its own
# seen: validation with averaged weights called from inside the training step
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.1)
average = [tf.Variable(v, trainable=False) for v in net.trainable_variables]
x = tf.random.normal((32, 4), seed=6)
y = tf.sin(3.0 * x[:, :1])


def swap_in():
    for v, a in zip(net.trainable_variables, average):
        now = tf.identity(v.value)
        v.assign(a)
        a.assign(now)


def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
        swap_in()
        validation = tf.reduce_mean((net(x) - y) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    for v, a in zip(net.trainable_variables, average):
        a.assign(0.9 * a + 0.1 * v)
    return grads, float(validation)


for _ in range(4):
    train_step()
forward_weights = net.get_weights()
train_step()
moved = net.get_weights()[0] - forward_weights[0]
net.set_weights(forward_weights)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((net(x) - y) ** 2)
honest = -0.1 * tape.gradient(loss, net.trainable_variables)[0].numpy()
assert not np.allclose(moved, honest, atol=1e-4)
