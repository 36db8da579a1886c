# case: warm_up_by_the_logarithm_of_the_step
# verdict: bug
# cause: nan-log
# expect_line: 19
# expect_variables: w
# symptom_today: the weights are NaN after the first step, though every gradient is finite
# exit: 0
# fix: tf.math.log1p(step)
import tensorflow as tf

data = tf.random.stateless_normal((16, 2), (1, 2))
truth = tf.reduce_sum(data * [1.0, -2.0], axis=1)
w = tf.Variable([0.5, 0.5], name="w")


def rate(step):
    """Grows slowly."""
    count = tf.cast(step, tf.float32)
    warm = tf.math.log(count)
    return 0.02 * tf.minimum(warm, 5.0)


for step in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(data, w) - truth) ** 2)
    gradient = tape.gradient(loss, w)
    now = rate(step)
    w.assign_sub(now * gradient)
print(w.numpy())
