# case: ragged_sessions_averaged_in_python
# verdict: bug; static: no
# cause: numpy-escape
# expect_line: 23 26
# expect_variables: item_vectors
# symptom_today: Keras raises ValueError for the item vectors: no gradients
# exit: 1 (ValueError)
# fix: tf.reduce_mean(ragged_vectors, axis=1) works on ragged tensors
# seen: session-based recommenders over ragged click lists
import keras
import tensorflow as tf

sessions = tf.ragged.constant([[1, 4, 2], [3], [5, 5, 1, 0], [2, 6]])
bought = tf.constant([2, 3, 0, 6])
item_vectors = tf.Variable(tf.random.normal((8, 5), stddev=0.1, seed=2), name="item_vectors")
target_vectors = tf.random.normal((8, 5), seed=3)
opt = keras.optimizers.Adagrad(0.1)


def session_vectors(sessions):
    looked_up = tf.ragged.map_flat_values(tf.nn.embedding_lookup, item_vectors, sessions)
    rows = []
    for clicks in looked_up.to_list():
        columns = list(zip(*clicks))
        rows.append([sum(column) / len(column) for column in columns])
    return tf.constant(rows)


for epoch in range(3):
    with tf.GradientTape() as tape:
        scores = tf.matmul(session_vectors(sessions), target_vectors, transpose_b=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(bought, scores))
    opt.apply_gradients([(tape.gradient(loss, item_vectors), item_vectors)])
