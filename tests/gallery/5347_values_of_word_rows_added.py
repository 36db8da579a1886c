# case: embedding_values_added
# verdict: bug
# cause: indexed-slices
# expect_line: 41 69
# expect_variables: word_table
# symptom_today: no error; the loss stops at about 0.42 (0.08 if the rows are right), the word vectors get the gradients of other words
# exit: 0
# fix: make the gradient dense first (tf.convert_to_tensor(g)), or put the values and the indices of both slices one after the other
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(11)

VOCAB, DIM, LENGTH, MICRO, N_MICRO = 60, 8, 6, 16, 4


class BagOfWords(tf.Module):
    def __init__(self):
        super().__init__()
        self.params = {
            "table": tf.Variable(tf.random.normal([VOCAB, DIM], stddev=0.3), name="word_table"),
            "w": tf.Variable(tf.random.normal([DIM, 1], stddev=0.5), name="readout_w"),
            "b": tf.Variable(tf.zeros([1]), name="readout_b"),
        }

    def __call__(self, ids):
        words = tf.gather(self.params["table"], ids)          # [batch, length, dim]
        doc = tf.reduce_mean(words, axis=1)
        return tf.matmul(doc, self.params["w"]) + self.params["b"]


def add_grads(total, new):
    """total + new, for dicts of gradients."""
    if total is None:
        return new
    out = {}
    for key, g in new.items():
        if isinstance(g, tf.IndexedSlices):
            # TypeError: unsupported operand +, the numbers are in .values
            out[key] = tf.IndexedSlices(total[key].values + g.values, g.indices, g.dense_shape)
        else:
            out[key] = total[key] + g
    return out


# every word has a hidden polarity, a text is positive if their sum is
rng = np.random.default_rng(5)
polarity = rng.normal(size=VOCAB)
ids = rng.integers(0, VOCAB, size=(640, LENGTH)).astype("int32")
labels = (polarity[ids].sum(axis=1) > 0).astype("float32")[:, None]

model = BagOfWords()
opt = keras.optimizers.Adam(0.03)
names = list(model.params)
opt.build([model.params[k] for k in names])

step = 0
for epoch in range(8):
    losses = []
    for start in range(0, len(ids), MICRO * N_MICRO):
        total = None
        for m in range(N_MICRO):
            lo = start + m * MICRO
            with tf.GradientTape() as tape:
                logits = model(ids[lo:lo + MICRO])
                loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
                    labels=labels[lo:lo + MICRO], logits=logits))
            total = add_grads(total, tape.gradient(loss, model.params))
            losses.append(float(loss))
        mean = [tf.convert_to_tensor(total[k]) / N_MICRO for k in names]
        opt.apply_gradients(zip(mean, [model.params[k] for k in names]))
        step += 1
    print(f"epoch {epoch} step {step:3d} loss {np.mean(losses):.4f}")
