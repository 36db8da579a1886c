# case: token_weighted_accumulation
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: losses summed per token and divided once by the number of tokens of all micro-batches
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(25)
VOCAB, DIM, MICRO = 30, 8, 4


class SkipGram(tf.Module):
    def __init__(self):
        super().__init__()
        self.table = tf.Variable(tf.random.stateless_normal((VOCAB, DIM), seed=(1, 2), stddev=0.2), name="table")
        self.out = tf.Variable(tf.random.stateless_normal((DIM, VOCAB), seed=(3, 4), stddev=0.2), name="out")

    def __call__(self, tokens):
        return tf.matmul(tf.nn.embedding_lookup(self.table, tokens), self.out)


model = SkipGram()
optimizer = keras.optimizers.Adam(2e-2)
slots = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
tokens_seen = tf.Variable(0.0, trainable=False)


@tf.function
def micro_step(context, word, weight):
    with tf.GradientTape() as tape:
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=word, logits=model(context))
        total = tf.reduce_sum(ce * weight)
    grads = tape.gradient(total, model.trainable_variables)
    for slot, grad in zip(slots, grads):
        slot.assign_add(tf.convert_to_tensor(grad))
    tokens_seen.assign_add(tf.reduce_sum(weight))
    return total


@tf.function
def apply_step():
    count = tf.maximum(tokens_seen, 1.0)
    optimizer.apply_gradients([(slot / count, var) for slot, var in zip(slots, model.trainable_variables)])
    for slot in slots:
        slot.assign(tf.zeros_like(slot))
    tokens_seen.assign(0.0)


rng = np.random.default_rng(10)
for step in range(24):
    summed, count = 0.0, 0.0
    for _ in range(MICRO):
        context = rng.integers(0, VOCAB, 32).astype("int32")
        word = ((context + 1) % VOCAB).astype("int32")
        weight = (rng.uniform(size=32) < rng.uniform(0.3, 1.0)).astype("float32")
        summed += float(micro_step(context, word, weight))
        count += weight.sum()
    apply_step()
    if step % 6 == 0:
        print(step, summed / count)
