# case: gamma_correction_of_black_pixels
# verdict: bug; static: yes
# cause: nan-pow
# expect_line: 19
# expect_variables: exposure
# symptom_today: silent: inf * 0 in the gradient of x ** 0.45 at x = 0
# exit: 0
# fix: tf.maximum(x, 1e-4) ** 0.45
# seen: differentiable camera pipelines
import tensorflow as tf

exposure = tf.Variable(1.2, name="exposure")
gamma = 1 / 2.2
pixels = tf.constant([[0.0, 0.1, 0.5], [0.9, 0.0, 0.3]])
target = tf.constant([[0.0, 0.4, 0.8], [1.0, 0.0, 0.6]])


def develop(linear):
    return tf.clip_by_value(linear, 0.0, 4.0) ** gamma


for _ in range(2):
    with tf.GradientTape() as tape:
        picture = develop(pixels * exposure)
        loss = tf.reduce_mean((picture - target) ** 2)
    exposure.assign_sub(0.1 * tape.gradient(loss, exposure))
    print(float(loss), float(exposure))
assert tf.math.is_nan(exposure)
