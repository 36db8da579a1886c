# case: matrices_made_of_zeros
# verdict: bug; static: no
# cause: predictions-collapsed
# expect_line: 17 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: only the last bias moves
# exit: 0
# fix: start the matrices at random
# seen: a network written with plain variables
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(35)
x = np.random.uniform(-1.0, 1.0, size=(256, 2)).astype("float32")
inside = ((x**2).sum(1, keepdims=True) < 0.6).astype("float32")
hidden = tf.Variable(tf.zeros((2, 16)))
shift = tf.Variable(tf.zeros((16,)))
out = tf.Variable(tf.zeros((16, 1)))
level = tf.Variable(tf.zeros((1,)))
variables = [hidden, shift, out, level]
loss_of = keras.losses.BinaryCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.03)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = loss_of(inside, tf.nn.relu(x @ hidden + shift) @ out + level)
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for _ in range(200):
    loss = step()
assert loss > 0.6
