# case: own_step_over_a_reordered_list
# verdict: bug; static: no
# cause: misrouted-gradient
# expect_line: 20
# expect_variables: bias
# symptom_today: ValueError: Shapes must be equal rank, but are 1 and 2
# exit: 1
# fix: zip with the list that was handed to tape.gradient
import tensorflow as tf

weight = tf.Variable(tf.ones((3, 2)), name="weight")
bias = tf.Variable(tf.zeros((2,)), name="bias")


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weight + bias) ** 2)
    for gradient, variable in zip(tape.gradient(loss, [weight, bias]), [bias, weight]):
        variable.assign_sub(0.1 * gradient)


step(tf.ones((4, 3)))
