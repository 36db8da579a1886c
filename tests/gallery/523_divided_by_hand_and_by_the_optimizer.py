# case: divided_by_hand_and_by_the_optimizer
# verdict: bug; static: yes
# cause: accumulation-averaged-twice
# expect_line: 18 26 28
# expect_variables: *
# symptom_today: silent: the update is four times too small
# exit: 0
# fix: leave the division to gradient_accumulation_steps
# seen: hand-written scaling left in after Keras learned to accumulate
import keras
import numpy as np
import tensorflow as tf

ACCUMULATE = 4
keras.utils.set_random_seed(7)
net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
start = net.get_weights()[0]
opt = keras.optimizers.SGD(0.1, gradient_accumulation_steps=ACCUMULATE)
x = tf.random.normal((32, 3), seed=7)
y = tf.reduce_sum(x, axis=1, keepdims=True)


def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(xb, training=True) - yb) ** 2)
        loss = loss / ACCUMULATE
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))


with tf.GradientTape() as tape:
    full = tf.reduce_mean((net(x) - y) ** 2)
wanted = -0.1 * tape.gradient(full, net.trainable_variables)[0].numpy()
for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(8):
    step(xb, yb)
got = net.get_weights()[0] - start
print((got / wanted).ravel())
assert np.allclose(got / wanted, 0.25, rtol=1e-3)
