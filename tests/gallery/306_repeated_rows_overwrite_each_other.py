# case: repeated_rows_overwrite_each_other
# verdict: bug; static: no
# cause: duplicate-sparse-rows
# expect_line: 19
# expect_variables: embeddings
# symptom_today: silent: a word that occurs three times is moved by one of its three gradients
# exit: 0
# fix: sum the slices first (tf.convert_to_tensor, or unsorted_segment_sum), or scatter_nd_sub
# seen: hand-written sparse optimisers for embeddings
import numpy as np
import tensorflow as tf

embeddings = tf.Variable(tf.ones((6, 2)), name="embeddings")
words = tf.constant([3, 3, 3, 1])


def sparse_sgd(variable, slices, rate):
    rows = tf.gather(variable, slices.indices)
    variable.scatter_nd_update(slices.indices[:, None], rows - rate * slices.values)


for _ in range(2):
    with tf.GradientTape() as tape:
        picked = tf.nn.embedding_lookup(embeddings, words)
        loss = tf.reduce_sum(picked * tf.constant([[1.0, 2.0]]))
    slices = tape.gradient(loss, embeddings)
    full = tf.convert_to_tensor(slices)
    start = embeddings.numpy().copy()
    sparse_sgd(embeddings, slices, rate=0.1)
moved = start - embeddings.numpy()
print(moved[3], 0.1 * full[3].numpy())
assert not np.allclose(moved[3], 0.1 * full[3].numpy())
