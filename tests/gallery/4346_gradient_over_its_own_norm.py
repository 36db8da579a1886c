# case: gradient_over_its_own_norm
# verdict: bug; static: no
# cause: nan-division
# expect_line: 28
# expect_variables: hidden, shift
# symptom_today: loss and gradients of the first step are finite, the loss of the second is NaN
# exit: 0
# fix: tf.math.divide_no_nan, or a small number added to the norm
# source: own (normalised gradients, with a head that starts at zero)
import numpy as np
import tensorflow as tf

tf.random.set_seed(5)
hidden = tf.Variable(tf.random.normal((4, 3)), name="hidden")
shift = tf.Variable(tf.zeros((3,)), name="shift")
head = tf.Variable(tf.zeros((3, 1)), name="head")
weights = [hidden, shift, head]
optimizer = tf.keras.optimizers.SGD(0.05)
x = tf.random.normal((16, 4), seed=5)
y = tf.reduce_sum(x, axis=1, keepdims=True)


def loss_of(x, y):
    return tf.reduce_mean((tf.nn.relu(x @ hidden + shift) @ head - y) ** 2)


def normalised(gradients):
    return [gradient / tf.norm(gradient) for gradient in gradients]


losses = []
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = loss_of(x, y)
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(normalised(gradients), weights))
    losses.append(float(loss))
assert np.isfinite(losses[0]) and np.isnan(losses[-1])
