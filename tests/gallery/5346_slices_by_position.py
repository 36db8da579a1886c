# case: slices_by_position
# verdict: bug
# cause: indexed-slices | misrouted-gradient
# expect_line: 35
# expect_variables: reader_taste, book_taste
# symptom_today: no error, no warning; the rating error hardly goes down
# exit: 0
# fix: join them: IndexedSlices(concat values, concat indices), or make them dense before adding
# source: cybertronai/gradient-checkpointing#30 (IndexedSlices cannot be added with +), style of
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)
READERS, BOOKS, RANK, MICRO, PARTS = 60, 40, 4, 64, 6

rng = np.random.default_rng(2)
taste_r = rng.normal(size=(READERS, RANK))
taste_b = rng.normal(size=(BOOKS, RANK))
who = rng.integers(0, READERS, 3840)
what = rng.integers(0, BOOKS, 3840)
stars = ((taste_r[who] * taste_b[what]).sum(1) / np.sqrt(RANK)).astype("float32")

reader_taste = tf.Variable(tf.random.normal([READERS, RANK], stddev=0.5), name="reader_taste")
book_taste = tf.Variable(tf.random.normal([BOOKS, RANK], stddev=0.5), name="book_taste")
tables = [reader_taste, book_taste]
optimizer = keras.optimizers.SGD(0.1)


def predict(r, b):
    return tf.reduce_sum(tf.gather(reader_taste, r) * tf.gather(book_taste, b), axis=1)


def merge(left, right):
    return tf.IndexedSlices(left.values + right.values, left.indices, left.dense_shape)


def scaled(g, factor):
    return tf.IndexedSlices(g.values * factor, g.indices, g.dense_shape)


def micro_gradients(r, b, s):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(predict(r, b) - s))
    return loss, tape.gradient(loss, tables)


def train_window(chunk):
    total, losses = None, []
    for piece in np.split(chunk, PARTS):
        loss, grads = micro_gradients(who[piece], what[piece], stars[piece])
        losses.append(float(loss) / MICRO)
        total = grads if total is None else [merge(t, g) for t, g in zip(total, grads)]
    optimizer.apply_gradients(zip([scaled(t, 1.0 / PARTS) for t in total], tables))
    return np.mean(losses)


for epoch in range(6):
    order = rng.permutation(len(stars))
    means = [train_window(c) for c in np.split(order, len(order) // (MICRO * PARTS))]
    print(f"epoch {epoch} mse {np.mean(means):.4f}")
print("variance of the ratings", round(float(stars.var()), 4))
