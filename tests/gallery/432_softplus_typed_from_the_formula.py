# case: softplus_typed_from_the_formula
# verdict: bug; static: no
# cause: nan-exp
# expect_line: 17
# expect_variables: w, b
# symptom_today: silent: exp overflows, the gradient is inf / inf
# exit: 0
# fix: tf.nn.softplus
# seen: count models whose rate is log(1 + exp(x))
import tensorflow as tf

w = tf.Variable([[3.0], [2.0]], name="w")
b = tf.Variable([0.0], name="b")


def softplus(x):
    return tf.math.log(1.0 + tf.exp(x))


@tf.function
def poisson_step(x, counts, rate=1e-3):
    with tf.GradientTape() as tape:
        mean = softplus(x @ w + b)
        loss = tf.reduce_mean(mean - counts * tf.math.log(mean + 1e-6))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(rate * dw)
    b.assign_sub(rate * db)
    return loss


ages = tf.constant([[1.0, 0.5], [2.0, 1.0], [40.0, 1.5]])
visits = tf.constant([[1.0], [2.0], [9.0]])
for epoch in range(2):
    loss = poisson_step(ages, visits)
print(w.numpy().ravel())
assert tf.reduce_all(tf.math.is_nan(w))
