# case: micro_batch_of_padding
# verdict: bug; static: no
# cause: accumulation-nonfinite | nan-division
# expect_line: 25 39
# expect_variables: lm/* (NaN after one accumulated update)
# symptom_today: silent: three good micro-batches are lost with the bad one, weights nan
# exit: 0
# fix: add up token losses and token counts, divide once at the end (or tf.math.divide_no_nan)
# source: huggingface/blog PR#2414 (per-token loss and gradient accumulation: normalise over all micro-batches), keras-team/keras#3270 (mask all zero in a small batch: NaN)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
VOCAB, PAD = 20, 0
lm = keras.Sequential([keras.layers.Embedding(VOCAB, 8), keras.layers.GRU(8, return_sequences=True), keras.layers.Dense(VOCAB)], name="lm")
opt = keras.optimizers.Adam(1e-2)


def token_loss(ids):
    logits = lm(ids[:, :-1], training=True)
    target = ids[:, 1:]
    real = tf.cast(target != PAD, tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    return tf.reduce_sum(losses * real) / tf.reduce_sum(real)


rng = np.random.default_rng(0)
corpus = rng.integers(1, VOCAB, size=(8, 6))
corpus[4:6] = PAD                                   # two empty lines of the text file
micro_batches = tf.split(tf.constant(corpus), 4)
lm(micro_batches[0][:, :-1])
slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in lm.trainable_variables]

for ids in micro_batches:
    with tf.GradientTape() as tape:
        loss = token_loss(ids)
    for slot, g in zip(slots, tape.gradient(loss, lm.trainable_variables)):
        slot.assign_add(tf.convert_to_tensor(g) / len(micro_batches))
    print("micro-batch loss", float(loss))
opt.apply_gradients(zip([s.value() for s in slots], lm.trainable_variables))
bad = [v.path for v in lm.trainable_variables if not np.isfinite(v.numpy()).all()]
print("non-finite variables:", bad)
assert bad
