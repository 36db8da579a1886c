# case: steps_counted_in_integers
# verdict: bug
# cause: non-differentiable-op
# expect_line: 15
# expect_variables: n
# symptom_today: the gradient is None
# exit: 0
# fix: tf.constant([1.0, 2.0, 4.0])
# seen: a tutorial on tapes, with the wrong kind of numbers
import tensorflow as tf

n = tf.constant([1, 2, 4])
with tf.GradientTape() as tape:
    tape.watch(n)
    area = n * n
    total = tf.reduce_sum(tf.cast(area, tf.float32))
assert tape.gradient(total, n) is None
