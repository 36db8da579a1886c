# case: smoothness_of_a_quantised_map
# verdict: bug
# cause: non-differentiable-op
# expect_line: 23
# expect_variables: levels
# symptom_today: gradients are None
# exit: 0
# fix: penalise the map before it is quantised
# seen: a penalty on the jacobian, in a compiled step
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
levels = tf.Variable(tf.random.normal((3,), seed=1), name="levels")
x = tf.random.normal((5, 3), seed=2)


@tf.function
def step(x):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = tf.round(4.0 * levels) * tf.tanh(x)
        slopes = inner.batch_jacobian(y, x)
        penalty = tf.reduce_mean(slopes**2)
    gradient = outer.gradient(penalty, levels)
    assert gradient is None
    return penalty


step(x)
