# case: gradients_of_a_weight_by_itself
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a generic function that differentiates whatever it is given
import tensorflow as tf


def slopes(values, by):
    with tf.GradientTape() as tape:
        results = [f() for f in values]
    return tape.gradient(results, by)


scale = tf.Variable(2.0, name="scale")
slope = slopes([lambda: scale, lambda: scale * 3.0], scale)
assert float(slope) == 4.0
