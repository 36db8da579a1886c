# case: hardest_negatives_by_argsort
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
embed = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
opt = keras.optimizers.Adam(5e-3)


def pairwise(a):
    square = tf.reduce_sum(tf.square(a), 1, keepdims=True)
    return tf.nn.relu(square - 2 * tf.matmul(a, a, transpose_b=True) + tf.transpose(square))


def triplet(vectors, labels, margin=1.0, k=3):
    d = pairwise(vectors)
    same = tf.equal(labels[:, None], labels[None, :])
    far = tf.where(same, tf.fill(tf.shape(d), 1e6), d)
    nearest = tf.argsort(far, axis=1)[:, :k]                       # integers: choose the rows, the distances carry the gradient
    negatives = tf.gather(d, nearest, batch_dims=1)
    hardest_positive = tf.reduce_max(tf.where(same, d, tf.zeros_like(d)), axis=1, keepdims=True)
    return tf.reduce_mean(tf.nn.relu(margin + hardest_positive - negatives))


rng = np.random.default_rng(0)
labels = tf.constant(rng.integers(0, 3, size=36))
x = tf.constant((rng.normal(size=(36, 6)) + labels.numpy()[:, None]).astype("float32"))
losses = []
for step in range(40):
    with tf.GradientTape() as tape:
        loss = triplet(embed(x), labels)
    grads = tape.gradient(loss, embed.trainable_variables)
    opt.apply_gradients(zip(grads, embed.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
print("ok", losses[0], losses[-1])
