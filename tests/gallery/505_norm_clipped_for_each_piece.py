# case: norm_clipped_for_each_piece
# verdict: bug; static: no
# cause: accumulation-clip-per-microbatch
# expect_line: 21
# expect_variables: - (every gradient is clipped: ranker/*)
# symptom_today: silent: every piece is cut to norm 0.1, so the direction of the sum is another one
# exit: 0
# fix: clip the averaged gradient once, just before apply_gradients
# seen: clipping moved into the helper that computes gradients
import keras
import numpy as np
import tensorflow as tf

ranker = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)], name="ranker")
opt = keras.optimizers.Adam(1e-2)


def clipped_gradients(x, y, limit=0.1):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((ranker(x) - y) ** 2)
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, ranker.trainable_variables), limit)
    return grads


def train(pieces):
    accumulated = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in ranker.trainable_variables]
    for x, y in pieces:
        for slot, g in zip(accumulated, clipped_gradients(x, y)):
            slot.assign_add(g)
    mean = [slot / float(len(pieces)) for slot in accumulated]
    opt.apply_gradients(zip(mean, ranker.trainable_variables))
    return mean


x = tf.random.normal((24, 4), seed=1) * tf.reshape(tf.range(1.0, 25.0), (-1, 1)) / 6.0
pieces = list(zip(tf.split(x, 3), tf.split(x[:, :1] * 5.0, 3)))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((ranker(x) - x[:, :1] * 5.0) ** 2)
true = tape.gradient(loss, ranker.trainable_variables)[0].numpy().ravel()
mean = train(pieces)[0].numpy().ravel()
cosine = mean @ true / np.linalg.norm(mean) / np.linalg.norm(true)
print(cosine)
assert cosine < 0.999
