# case: ragged_and_sparse_inputs
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: bags of words of different lengths
import tensorflow as tf

embedding = tf.Variable(tf.random.normal((10, 4), stddev=0.3, seed=1), name="embedding")
linear = tf.Variable(tf.zeros((10, 1)), name="linear")
out = tf.Variable(tf.random.normal((4, 1), stddev=0.3, seed=2), name="out")
bags = tf.ragged.constant([[1, 2, 3], [4], [5, 5, 6, 7], [9, 0]])
counts = tf.sparse.from_dense(tf.reduce_sum(tf.one_hot(bags.to_tensor(default_value=-1), 10), axis=1))
labels = tf.constant([[1.0], [0.0], [1.0], [0.0]])


@tf.function
def step(rate):
    with tf.GradientTape() as tape:
        vectors = tf.ragged.map_flat_values(tf.nn.embedding_lookup, embedding, bags)
        pooled = tf.reduce_mean(vectors, axis=1)
        logits = pooled @ out + tf.sparse.sparse_dense_matmul(counts, linear)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
    variables = [embedding, linear, out]
    for v, g in zip(variables, tape.gradient(loss, variables)):
        v.assign_sub(rate * tf.convert_to_tensor(g))
    return loss


losses = [float(step(0.5)) for _ in range(10)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
