# case: projections_unpacked_in_another_order
# verdict: bug; static: yes
# cause: misrouted-gradient
# expect_line: 36 38 39
# expect_variables: w_value, w_key (crossed; w_query is right)
# symptom_today: silent: the kernels have equal shapes, so key and value take each other's gradient
# exit: 0
# fix: unpack in the order in which the sources were given, or zip gradients and variables
# source: own words, after hand-written attention layers on forums (shapes agree, so nothing complains)
import numpy as np
import tensorflow as tf


class Attention(tf.Module):
    def __init__(self, n):
        super().__init__()
        gen = tf.random.Generator.from_seed(1)
        self.w_query = tf.Variable(gen.normal((n, n)) * 0.4, name="w_query")
        self.w_key = tf.Variable(gen.normal((n, n)) * 0.4, name="w_key")
        self.w_value = tf.Variable(gen.normal((n, n)) * 0.4, name="w_value")

    def __call__(self, x):
        q, k, v = x @ self.w_query, x @ self.w_key, x @ self.w_value
        return tf.nn.softmax(q @ tf.transpose(k, (0, 2, 1))) @ v


layer = Attention(4)
rate = 0.2
rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(16, 5, 4)), tf.float32)
y = tf.tanh(x @ tf.constant(rng.normal(size=(4, 4)), tf.float32))
losses = []
for epoch in range(40):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(layer(x) - y))
    d_query, d_value, d_key = tape.gradient(loss, [layer.w_query, layer.w_key, layer.w_value])
    layer.w_query.assign_sub(rate * d_query)
    layer.w_key.assign_sub(rate * d_key)
    layer.w_value.assign_sub(rate * d_value)
    losses.append(float(loss))
print(losses[0], losses[-1])
