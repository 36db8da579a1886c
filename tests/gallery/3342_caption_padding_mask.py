# case: caption_padding_mask
# verdict: bug
# cause: zero-gradient-op | never-updated | constant-target
# expect_line: 36 37
# expect_variables: -
# symptom_today: masks in which every position is zero and the "reports 0.0 while training nothing" remark in
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(6)
VOCAB, LENGTH, PAD = 30, 9, 0


class Captioner(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCAB, 12)
        self.rnn = keras.layers.GRU(16, return_sequences=True)
        self.out = keras.layers.Dense(VOCAB)

    def call(self, tokens):
        return self.out(self.rnn(self.embed(tokens)))


def captions(n=96):
    rng = np.random.default_rng(4)
    start = rng.integers(1, VOCAB - LENGTH - 1, size=(n, 1))
    return (start + np.arange(LENGTH + 1)).astype("int32")


def masked_loss(labels, logits):
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    mask = tf.cast(tf.equal(labels, PAD), ce.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(ce * mask), tf.reduce_sum(mask))


model = Captioner()
optimizer = keras.optimizers.Adam(1e-2)


@tf.function
def train_step(batch):
    inputs, labels = batch[:, :-1], batch[:, 1:]
    with tf.GradientTape() as tape:
        loss = masked_loss(labels, model(inputs, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.linalg.global_norm(grads)


data = tf.data.Dataset.from_tensor_slices(captions()).batch(24)
for epoch in range(3):
    for batch in data:
        loss, norm = train_step(batch)
    print("epoch", epoch, "loss", float(loss), "grad norm", float(norm))
