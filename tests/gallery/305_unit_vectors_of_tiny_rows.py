# case: unit_vectors_of_tiny_rows
# verdict: bug; static: no
# cause: exploding-normalise | exploding-gradient
# expect_line: 17 26
# expect_variables: codes
# symptom_today: silent: gradient norm above 1e6 from a row that is nearly zero; the row jumps
# exit: 0
# fix: a larger epsilon (1e-3), or mask the padding row out
# seen: contrastive learning with a padding embedding that starts near zero
import tensorflow as tf

start = tf.concat([tf.random.normal((6, 4), seed=0), 1e-9 * tf.random.normal((2, 4), seed=1)], axis=0)
codes = tf.Variable(start, name="codes")


def unit(x):
    return x / tf.sqrt(tf.reduce_sum(x**2, axis=-1, keepdims=True) + 1e-22)


@tf.function
def contrast(temperature):
    with tf.GradientTape() as tape:
        z = unit(codes)
        similarity = tf.matmul(z, z, transpose_b=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(8), similarity / temperature))
    return loss, tape.gradient(loss, codes)


norms = []
for _ in range(3):
    loss, slope = contrast(0.1)
    norms.append(float(tf.norm(slope)))
    codes.assign_sub(1e-3 * slope)
print(norms)
assert norms[0] > 1e6
