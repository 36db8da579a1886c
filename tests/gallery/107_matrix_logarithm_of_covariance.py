# case: matrix_logarithm_of_covariance
# verdict: bug; static: no
# cause: no-registered-gradient
# expect_line: 21
# expect_variables: chol
# symptom_today: raises LookupError: gradient registry has no entry for: MatrixLogarithm
# exit: 1 (LookupError)
# fix: take the logarithm through tf.linalg.eigh, whose gradient exists
# seen: log-Euclidean distances between covariance matrices
import tensorflow as tf

chol = tf.Variable(tf.eye(3) + 0.1 * tf.random.normal((3, 3), seed=0), name="chol")
reference = tf.linalg.diag([1.0, 2.0, 3.0])


def spd(factor):
    return tf.matmul(factor, factor, transpose_b=True)


def log_euclidean(a, b):
    to_log = lambda m: tf.math.real(tf.linalg.logm(tf.cast(m, tf.complex64)))
    difference = to_log(a) - to_log(b)
    return tf.sqrt(tf.reduce_sum(difference**2))


@tf.function
def fit_once(rate):
    with tf.GradientTape() as tape:
        distance = log_euclidean(spd(chol), reference)
    slope = tape.gradient(distance, chol)
    chol.assign_sub(rate * slope)
    return distance


print(float(fit_once(0.05)))
