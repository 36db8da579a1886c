# case: gradient_over_its_own_norm_kept_finite
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; a zero gradient stays zero
# exit: 0
# fix: -
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
    return [tf.math.divide_no_nan(gradient, tf.norm(gradient)) for gradient in gradients]


losses = []
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = loss_of(x, y)
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(normalised(gradients), weights))
    losses.append(float(loss))
assert np.isfinite(losses[0]) and losses[-1] < losses[0]
