# case: bodies_that_attract_themselves
# verdict: bug; static: no
# cause: nan-division
# expect_line: 22 23
# expect_variables: mass
# symptom_today: silent: the diagonal is infinity times zero, the loss and the gradient are NaN
# exit: 0
# fix: add the identity to the distances before dividing
# source: tensorflow/tensorflow#12071, tensorflow/tensorflow#42889 (distances of zero)
import tensorflow as tf

tf.random.set_seed(23)
positions = tf.random.normal((6, 2))
observed = tf.random.normal((6, 2), seed=4)
mass = tf.Variable(tf.ones(6), name="mass")
off_diagonal = 1.0 - tf.eye(6)


def accelerations(mass):
    gap = positions[None, :, :] - positions[:, None, :]
    squared = tf.reduce_sum(tf.square(gap), axis=-1)
    inverse = 1.0 / squared ** 1.5
    pull = mass[None, :] * inverse * off_diagonal
    return tf.einsum("ij,ijk->ik", pull, gap)


@tf.function
def fit_step(rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(accelerations(mass) - observed))
    mass.assign_sub(rate * tape.gradient(loss, mass))
    return loss


for i in range(3):
    print(i, float(fit_step(tf.constant(1e-3))))
print(mass.numpy())
assert bool(tf.reduce_all(tf.math.is_nan(mass)))
