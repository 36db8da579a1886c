# case: session_style_assignment
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 16
# expect_variables: -
# symptom_today: AttributeError: module 'tensorflow' has no attribute 'assign'
# exit: 1
# fix: weight.assign(weight - 0.1 * gradient)
import tensorflow as tf

weight = tf.Variable(tf.ones((3, 1)), name="weight")
x = tf.ones((4, 3))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((x @ weight) ** 2)
gradient = tape.gradient(loss, weight)
tf.assign(weight, weight - 0.1 * gradient)
