# case: gradient_of_one_row
# verdict: bug; static: yes
# cause: wrong-source-object
# expect_line: 23
# expect_variables: table[2]
# symptom_today: TypeError: the gradient of table[2] is None
# exit: 1 (TypeError)
# fix: ask for the gradient of the whole variable and take row 2 of the result
# seen: updating a single embedding row by hand
import tensorflow as tf

table = tf.Variable(tf.random.normal((4, 3), seed=5), name="table")
goal = tf.constant([1.0, 0.0, -1.0])


def pull(row, goal):
    return tf.reduce_sum(tf.square(row - goal))


with tf.GradientTape() as tape:
    loss = pull(table[2], goal)
    loss += 0.01 * tf.nn.l2_loss(table)
change = tape.gradient(loss, table[2])
table[2].assign(table[2] - 0.1 * change)
