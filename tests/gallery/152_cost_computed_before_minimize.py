# case: cost_computed_before_minimize
# verdict: bug; static: yes
# cause: outside-tape
# expect_line: 23 26
# expect_variables: shares
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: compute the cost in the function that is given to minimize
# seen: a lambda that only returns a finished tensor
import tensorflow as tf
import tf_keras

returns = tf.constant([[0.02, 0.01, -0.01], [0.00, 0.03, 0.01], [0.01, -0.02, 0.02], [0.03, 0.02, 0.00]])
shares = tf.Variable([0.3, 0.3, 0.4], name="shares")


def sharpe(weights):
    weights = tf.nn.softmax(weights)
    daily = tf.linalg.matvec(returns, weights)
    return tf.reduce_mean(daily) / (tf.math.reduce_std(daily) + 1e-6)


cost = -sharpe(shares)
optimizer = tf_keras.optimizers.Adam(0.05)
for _ in range(3):
    optimizer.minimize(lambda: cost, var_list=[shares])
print(tf.nn.softmax(shares).numpy())
