# case: softmax_by_hand
# verdict: bug; static: yes
# cause: nan-exp | nan-division
# expect_line: 21 22
# expect_variables: query, key
# symptom_today: silent: exp overflows, inf / inf is NaN
# exit: 0
# fix: tf.nn.softmax, or subtract the maximum first
# seen: attention written from the formula
import tensorflow as tf


class Attention(tf.Module):
    def __init__(self, width, seed=0):
        super().__init__()
        self.query = tf.Variable(tf.random.normal((width, width), stddev=4.0, seed=seed), name="query")
        self.key = tf.Variable(tf.random.normal((width, width), stddev=4.0, seed=seed + 1), name="key")

    def __call__(self, x):
        scores = tf.einsum("btd,bsd->bts", x @ self.query, x @ self.key)
        weights = tf.exp(scores)
        weights = weights / tf.reduce_sum(weights, axis=-1, keepdims=True)
        return tf.matmul(weights, x)


attention = Attention(8)
x = tf.random.normal((2, 6, 8), seed=3)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((attention(x) - x) ** 2)
    for v, g in zip(attention.trainable_variables, tape.gradient(loss, attention.trainable_variables)):
        v.assign_sub(1e-3 * g)
print(float(loss))
assert tf.math.is_nan(loss)
