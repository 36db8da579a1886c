# case: layer_gradient_with_empty_variable_list
# verdict: bug; static: no
# cause: custom-gradient
# expect_line: 23 29
# expect_variables: threshold
# symptom_today: silent: threshold gets None and never moves (the other variable trains)
# exit: 0
# fix: return the gradient of the loss for each of the variables
# seen: soft-thresholding with a hand-written backward pass
import tensorflow as tf

threshold = tf.Variable(0.1, name="threshold")
dictionary = tf.Variable(tf.random.normal((6, 4), seed=3), name="dictionary")


@tf.custom_gradient
def shrink(z):
    kept = tf.abs(z) > threshold
    out = tf.where(kept, z - tf.sign(z) * threshold, tf.zeros_like(z))

    def backward(upstream, variables=None):
        dz = tf.where(kept, upstream, tf.zeros_like(upstream))
        return dz, [None] * len(variables)

    return out, backward


def encode(x):
    return shrink(tf.matmul(x, dictionary))


x = tf.random.normal((20, 6), seed=1)
for step in range(15):
    with tf.GradientTape() as tape:
        code = encode(x)
        loss = tf.reduce_mean((tf.matmul(code, dictionary, transpose_b=True) - x) ** 2)
    grads = tape.gradient(loss, [dictionary, threshold])
    for g, v in zip(grads, [dictionary, threshold]):
        if g is not None:
            v.assign_sub(0.02 * g)
print(float(loss), float(threshold))
assert grads[0] is not None and grads[1] is None and float(threshold) == tf.constant(0.1).numpy()
