# case: skipgram_sparse_accumulators
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: tensorpack/tensorpack#435 and tensorflow/addons#2525 (accumulation of IndexedSlices, after the fix: scatter_add into dense accumulators)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
VOCAB, DIM, NEG, ACCUM = 40, 12, 4, 2
# ten topics of four words: words of one topic stand next to each other
topics = rng.integers(0, 10, 1024)
centre = (topics * 4 + rng.integers(0, 4, 1024)).astype("int32")
context = (topics * 4 + rng.integers(0, 4, 1024)).astype("int32")
pairs = tf.data.Dataset.from_tensor_slices((centre, context)).shuffle(1024, seed=6).batch(64, drop_remainder=True)

target_emb = tf.Variable(tf.random.normal((VOCAB, DIM), stddev=0.3, seed=1), name="target_emb")
context_emb = tf.Variable(tf.random.normal((VOCAB, DIM), stddev=0.3, seed=2), name="context_emb")
tables = [target_emb, context_emb]
buffers = [tf.Variable(tf.zeros((VOCAB, DIM)), trainable=False, name="accum") for _ in tables]
optimizer = keras.optimizers.Adam(3e-2)
optimizer.build(tables)


@tf.function
def accumulate(c, pos):
    neg = tf.random.uniform((tf.shape(c)[0], NEG), 0, VOCAB, dtype=tf.int32)
    words = tf.concat([pos[:, None], neg], axis=1)
    labels = tf.concat([tf.ones_like(pos)[:, None], tf.zeros_like(neg)], axis=1)
    with tf.GradientTape() as tape:
        v = tf.nn.embedding_lookup(target_emb, c)
        u = tf.nn.embedding_lookup(context_emb, words)
        logits = tf.einsum("bd,bkd->bk", v, u)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(labels, tf.float32), logits))
    for buf, g in zip(buffers, tape.gradient(loss, tables)):
        buf.scatter_add(g)
    return loss


@tf.function
def update():
    optimizer.apply_gradients([(buf / ACCUM, table) for buf, table in zip(buffers, tables)])
    for buf in buffers:
        buf.assign(tf.zeros_like(buf))


before = [t.numpy() for t in tables]
losses = []
for step, (c, pos) in enumerate(pairs.repeat(3)):
    losses.append(float(accumulate(c, pos)))
    if (step + 1) % ACCUM == 0:
        update()
print("loss", np.mean(losses[:4]), "->", np.mean(losses[-4:]))
assert np.mean(losses[-4:]) < 0.8 * np.mean(losses[:4])
assert all(np.abs(t.numpy() - b).max(axis=1).min() > 0 for t, b in zip(tables, before))
