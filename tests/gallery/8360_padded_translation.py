# case: padded_translation
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a padding mask that is all zero for a batch and a denominator kept at one
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(6)
VOCAB, LENGTH, PAD = 25, 8, 0


def make_batches():
    rng = np.random.default_rng(4)
    start = rng.integers(1, VOCAB - LENGTH - 1, size=(80, 1))
    tokens = start + np.arange(LENGTH + 1)
    lengths = rng.integers(2, LENGTH + 1, size=80)
    tokens[np.arange(LENGTH + 1)[None] > lengths[:, None]] = PAD
    batches = list(tokens.astype("int32").reshape(5, 16, -1))
    batches.append(np.full((16, LENGTH + 1), PAD, "int32"))
    return batches


class Translator(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCAB, 12)
        self.rnn = keras.layers.GRU(16, return_sequences=True)
        self.out = keras.layers.Dense(VOCAB)

    def call(self, tokens):
        return self.out(self.rnn(self.embed(tokens)))


def masked_loss(labels, logits):
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    mask = tf.cast(tf.not_equal(labels, PAD), ce.dtype)
    return tf.reduce_sum(ce * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)


model = Translator()
optimizer = keras.optimizers.Adam(1e-2)


@tf.function
def train_step(batch):
    inputs, labels = batch[:, :-1], batch[:, 1:]
    with tf.GradientTape() as tape:
        loss = masked_loss(labels, model(inputs))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = make_batches()
for epoch in range(6):
    losses = [float(train_step(tf.constant(b))) for b in batches]
    print(epoch, "mean", np.mean(losses[:-1]), "empty batch", losses[-1])
