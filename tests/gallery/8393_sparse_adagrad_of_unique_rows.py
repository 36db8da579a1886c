# case: skipgram_sparse_adagrad_unique
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: nothing wrong; repeated rows are added up before scatter_update, so the sparse step equals the dense one
# exit: 0
# fix: -
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)

WORDS, TOPICS, DIM = 40, 4, 8
topic_of = np.arange(WORDS) % TOPICS


def make_pairs(n):
    centre = rng.integers(0, WORDS, n)
    positive = (rng.integers(0, WORDS // TOPICS, n) * TOPICS + topic_of[centre])
    negative = rng.integers(0, WORDS, n)
    label = rng.integers(0, 2, n)
    context = np.where(label == 1, positive, negative)
    return centre.astype("int32"), context.astype("int32"), label.astype("float32")


centre_table = tf.Variable(tf.random.normal([WORDS, DIM], stddev=0.3), name="centre_table")
context_table = tf.Variable(tf.random.normal([WORDS, DIM], stddev=0.3), name="context_table")


class SparseAdagrad:
    """Adagrad that only touches the rows which are in the batch."""

    def __init__(self, variables, learning_rate=0.1):
        self.lr = learning_rate
        self.totals = {id(v): tf.Variable(tf.fill(v.shape, 1e-6), trainable=False) for v in variables}

    @staticmethod
    def merge(grad):
        # a frequent word is in the batch many times: one row for each word
        rows, where = tf.unique(grad.indices)
        return rows, tf.math.unsorted_segment_sum(grad.values, where, tf.size(rows))

    def apply(self, grad, variable):
        rows, values = self.merge(grad)
        total = self.totals[id(variable)]
        new_total = tf.gather(total, rows) + tf.square(values)
        total.scatter_update(tf.IndexedSlices(new_total, rows))
        step = self.lr * values / tf.sqrt(new_total)
        moved = tf.gather(variable, rows) - step
        variable.scatter_update(tf.IndexedSlices(moved, rows))


optimizer = SparseAdagrad([centre_table, context_table])


def batch_loss(centre, context, label):
    u = tf.nn.embedding_lookup(centre_table, centre)
    v = tf.nn.embedding_lookup(context_table, context)
    logits = tf.reduce_sum(u * v, axis=1)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits))


for step in range(60):
    centre, context, label = make_pairs(512)
    with tf.GradientTape() as tape:
        loss = batch_loss(centre, context, label)
    grads = tape.gradient(loss, [centre_table, context_table])
    before = centre_table.numpy()
    for g, table in zip(grads, [centre_table, context_table]):
        optimizer.apply(g, table)
    if step % 15 == 0 or step == 59:
        dense = tf.convert_to_tensor(grads[0]).numpy()
        agree = np.mean(np.sign(before - centre_table.numpy()) == np.sign(dense))
        print(f"step {step:2d}  loss {loss:.4f}  signs of the step that agree with the gradient: {agree:.2f}")
