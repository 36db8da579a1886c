# case: dynamics_matrix_with_its_eigenvalues
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import tensorflow as tf

tf.random.set_seed(108)
A = tf.Variable(0.6 * tf.eye(3) + tf.random.normal((3, 3), stddev=0.2, seed=1), name="A")
now = tf.random.normal((40, 3))
then = tf.matmul(now, tf.constant([[0.9, 0.2, 0.0], [-0.2, 0.9, 0.0], [0.0, 0.0, 0.5]]))
losses = []
for step in range(60):
    with tf.GradientTape() as tape:
        values, _ = tf.linalg.eig(A)
        unstable = tf.reduce_sum(tf.nn.relu(tf.abs(values) - 1.0))          # often exactly zero
        loss = tf.reduce_mean(tf.square(tf.matmul(now, A) - then)) + unstable
    grad = tape.gradient(loss, A)
    A.assign_sub(0.3 * grad)
    losses.append(float(loss))
print(losses[0], losses[-1])
assert losses[-1] < 0.1 * losses[0]
