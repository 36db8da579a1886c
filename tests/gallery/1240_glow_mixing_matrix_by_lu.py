# case: glow_mixing_matrix_by_lu
# verdict: bug; static: yes
# cause: no-registered-gradient
# expect_line: 19
# expect_variables: mixing
# symptom_today: raises LookupError: gradient registry has no entry for: Lu
# exit: 1 (LookupError)
# fix: use tf.linalg.slogdet, or keep L, U and the log-diagonal as the parameters
# source: tensorflow/tensorflow#43765, JayLago/DLDMD#2 (the same LookupError for another op)
import tensorflow as tf

tf.random.set_seed(1)
channels = 4
mixing = tf.Variable(tf.eye(channels) + tf.random.normal((channels, channels), stddev=0.1), name="mixing")
pixels = tf.random.normal((64, channels))


def log_abs_det(matrix):
    factors, _ = tf.linalg.lu(matrix)
    return tf.reduce_sum(tf.math.log(tf.abs(tf.linalg.diag_part(factors))))


@tf.function
def flow_step():
    with tf.GradientTape() as tape:
        z = tf.matmul(pixels, mixing)
        log_prob = -0.5 * tf.reduce_sum(tf.square(z), axis=-1) + log_abs_det(mixing)
        nll = -tf.reduce_mean(log_prob)
    grad = tape.gradient(nll, mixing)
    mixing.assign_sub(0.01 * grad)
    return nll


for epoch in range(3):
    print(epoch, float(flow_step()))
