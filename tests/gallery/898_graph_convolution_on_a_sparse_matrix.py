# case: graph_convolution_on_a_sparse_matrix
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: node classification with few labelled nodes
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)
NODES, CLASSES = 30, 3
rng = np.random.default_rng(6)
edges = rng.integers(0, NODES, size=(90, 2))
edges = np.unique(np.vstack([edges, edges[:, ::-1], np.stack([np.arange(NODES)] * 2, 1)]), axis=0)
degree = np.bincount(edges[:, 0], minlength=NODES)
values = 1.0 / np.sqrt(degree[edges[:, 0]] * degree[edges[:, 1]])
adjacency = tf.sparse.reorder(tf.SparseTensor(edges, values.astype("float32"), (NODES, NODES)))


class GCN(tf.Module):
    def __init__(self, sizes):
        super().__init__()
        self.weights = [tf.Variable(tf.random.normal((a, b), stddev=a**-0.5)) for a, b in zip(sizes[:-1], sizes[1:])]

    def __call__(self, x, training=False):
        for i, w in enumerate(self.weights):
            if training:
                x = tf.nn.dropout(x, 0.2)
            x = tf.sparse.sparse_dense_matmul(adjacency, tf.matmul(x, w))
            if i < len(self.weights) - 1:
                x = tf.nn.relu(x)
        return x


labels = rng.integers(0, CLASSES, NODES)
features = tf.constant(np.eye(CLASSES)[labels] + 0.5 * rng.normal(size=(NODES, CLASSES)), tf.float32)
known = np.arange(NODES) < 12
gcn = GCN([CLASSES, 16, CLASSES])
opt = keras.optimizers.Adam(0.02)


@tf.function
def step():
    with tf.GradientTape() as tape:
        logits = gcn(features, training=True)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_mean(tf.boolean_mask(each, known))
        loss += 5e-4 * tf.nn.l2_loss(gcn.weights[0])
    opt.apply_gradients(zip(tape.gradient(loss, gcn.trainable_variables), gcn.trainable_variables))
    return loss


losses = [float(step()) for _ in range(25)]
accuracy = np.mean(tf.argmax(gcn(features), -1).numpy()[~known] == labels[~known])
print(losses[0], losses[-1], accuracy)
assert losses[-1] < losses[0]
