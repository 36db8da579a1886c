# case: weights_created_in_a_traced_step
# verdict: bug; static: yes
# cause: variable-created-in-tf-function
# expect_line: 15 16
# expect_variables: - (w and b are never made)
# symptom_today: raises ValueError: tf.function only supports singleton tf.Variables created on the first call
# exit: 1 (ValueError)
# fix: create w and b outside and pass or close over them
# seen: moving a script into a decorated function
import tensorflow as tf


@tf.function
def regress(x, y, rate=0.1):
    w = tf.Variable(tf.zeros((x.shape[1], 1)))
    b = tf.Variable(0.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w + b - y) ** 2)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(rate * dw)
        b.assign_sub(rate * db)
    return loss


x = tf.random.normal((20, 3), seed=0)
print(regress(x, tf.reduce_sum(x, 1, keepdims=True)))
