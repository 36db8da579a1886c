# case: whole_number_starting_values
# verdict: bug; static: yes
# cause: int-variable
# expect_line: 12 18 24
# expect_variables: coefficients
# symptom_today: TensorFlow warns about the dtype; TypeError in the update: the gradient is None
# exit: 1 (TypeError)
# fix: write the starting values as floats: [3.0, -1.0, 2.0]
# seen: polynomial fits by beginners
import tensorflow as tf

coefficients = tf.Variable([3, -1, 2], name="coefficients")
x = tf.linspace(-1.0, 1.0, 25)
y = 1.0 + 0.5 * x - 2.0 * x**2


def polynomial(x, c):
    c = tf.cast(c, x.dtype)
    return sum(c[k] * x**k for k in range(3))


with tf.GradientTape() as tape:
    loss = tf.reduce_mean((polynomial(x, coefficients) - y) ** 2)
slope = tape.gradient(loss, coefficients)
coefficients.assign_sub(tf.cast(0.1 * slope, tf.int32))
