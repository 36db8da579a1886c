# case: weights_rebuilt_for_every_width
# verdict: bug; static: no
# cause: variable-recreated
# expect_line: 15
# expect_variables: kernel
# symptom_today: InvalidArgumentError: Incompatible shapes: [3,2] vs. [3,4]
# exit: 1
# fix: begin a new sum with every new network
import tensorflow as tf

tf.random.set_seed(0)


def build(width):
    return tf.Variable(tf.random.normal((3, width)), name="kernel")


x = tf.random.normal((4, 3))
total = None
for width in (2, 2, 4):
    kernel = build(width)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ kernel) ** 2)
    gradient = tape.gradient(loss, kernel)
    total = gradient if total is None else total + gradient
