# case: leontief_equilibrium_layer
# verdict: bug
# cause: wrong-custom-gradient
# expect_line: 37 38 42 43 44 59
# expect_variables: -
# symptom_today: no error and the loss even falls, but the gradient disagrees with finite differences (by a factor of three in the first step)
# exit: 0
# fix: the backward pass must solve with the transposed matrix: adjoint = fixed_point(tf.transpose(a), upstream)
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)

# supply chain: production x = A x + demand, where a sector only delivers to sectors
# further down the chain. We see demands and productions of many years and want A.
SECTORS = 6
CHAIN = np.argwhere(np.triu(np.ones((SECTORS, SECTORS)), 1) > 0)     # 15 possible deliveries


def technology(theta):
    share = 0.9 * tf.sigmoid(theta)
    return tf.scatter_nd(CHAIN, share, [SECTORS, SECTORS])


def fixed_point(matrix, right_side):
    """Solves z = matrix z + right_side by iteration."""
    _, z = tf.while_loop(lambda i, z: i < 40,
                         lambda i, z: (i + 1, tf.matmul(matrix, z) + right_side),
                         [tf.constant(0), right_side])
    return z


@tf.custom_gradient
def equilibrium(a, demand):
    """Implicit layer: no need to keep 40 iterations for the backward pass."""
    z = fixed_point(a, demand)

    def backward(upstream):
        adjoint = fixed_point(a, upstream)
        return tf.matmul(adjoint, z, transpose_b=True), adjoint

    return z, backward


demand = rng.uniform(0.1, 0.5, (SECTORS, 64)).astype("float32")
a_true = technology(tf.constant(rng.normal(0.0, 1.5, len(CHAIN)), tf.float32))
production = tf.linalg.solve(tf.eye(SECTORS) - a_true, demand)

theta = tf.Variable(tf.random.normal([len(CHAIN)], stddev=0.5), name="theta")
optimizer = keras.optimizers.Adam(0.05)


@tf.function
def loss_of(t):
    predicted = equilibrium(technology(t), demand)
    return tf.reduce_mean(tf.square(predicted - production))


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = loss_of(theta)
    gradient = tape.gradient(loss, theta)
    optimizer.apply_gradients([(gradient, theta)])
    return loss, gradient


def finite_difference(k, eps=1e-2):
    bump = eps * tf.one_hot(k, len(CHAIN))
    return (loss_of(theta + bump) - loss_of(theta - bump)) / (2 * eps)


for step in range(200):
    check = step % 40 == 0
    if check:
        numeric = finite_difference(9)
    loss, gradient = train_step()
    if check:
        print(f"step {step:3d}  loss {loss:.5f}   d loss / d theta[9]: "
              f"tape {gradient[9]:.5f}  finite difference {numeric:.5f}")
print("largest error of the table:", float(tf.reduce_max(tf.abs(technology(theta) - a_true))))
