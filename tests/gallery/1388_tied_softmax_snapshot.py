# case: tied_softmax_snapshot
# verdict: bug
# cause: outside-tape
# expect_line: 39 43
# expect_variables: tok/embeddings
# symptom_today: the model trains to a mediocre loss without a message; the output matrix is still the initial table and the embedding gets no gradient from the softmax
# exit: 0
# fix: transpose the table in call (matmul with transpose_b=True), not once in build
# source: StackOverflow 53751024 on tying a dense layer to another one: build stores K.transpose(tied_to.kernel) and the copy goes its own way
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(29)
VOCAB, CTX, DIM = 40, 6, 24


def markov_corpus(n_tokens):
    rng = np.random.default_rng(13)
    nxt = np.stack([rng.permutation(VOCAB) for _ in range(2)])
    seq = [0]
    for _ in range(n_tokens):
        seq.append(int(nxt[int(rng.random() < 0.15), seq[-1]]))
    seq = np.array(seq, "int32")
    win = np.lib.stride_tricks.sliding_window_view(seq, CTX + 1)
    return win[:, :-1].copy(), win[:, 1:].copy()


class TiedOutput(layers.Layer):
    """Reuses the token table as the softmax matrix."""

    def __init__(self, table_layer, **kw):
        super().__init__(**kw)
        self.table_layer = table_layer

    def build(self, input_shape):
        self.kernel_t = tf.transpose(self.table_layer.embeddings)
        self.bias = self.add_weight(shape=(VOCAB,), initializer="zeros", name="bias")

    def call(self, h):
        return tf.matmul(h, self.kernel_t) + self.bias


class NextToken(keras.Model):
    def __init__(self):
        super().__init__(name="next_token")
        self.tok = layers.Embedding(VOCAB, DIM, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.2), name="tok")
        self.rnn = layers.GRU(DIM, return_sequences=True, name="rnn")
        self.tied = TiedOutput(self.tok, name="tied")

    def build(self, input_shape):
        self.tok.build(input_shape)
        self.rnn.build((None, CTX, DIM))
        self.tied.build((None, CTX, DIM))
        self.built = True

    def call(self, ids):
        return self.tied(self.rnn(self.tok(ids)))


lm = NextToken()
lm.build((None, CTX))
opt = keras.optimizers.Adam(5e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
trainable = lm.trainable_variables


@tf.function
def train_on(ids, target):
    with tf.GradientTape() as tape:
        loss = ce(target, lm(ids))
    grads = tape.gradient(loss, trainable)
    opt.apply_gradients(zip(grads, trainable))
    return loss


src, tgt = markov_corpus(1500)
data = tf.data.Dataset.from_tensor_slices((src, tgt)).shuffle(2000, seed=6).batch(64, drop_remainder=True)
losses = []
for _ in range(8):
    losses.append(float(np.mean([train_on(a, b).numpy() for a, b in data])))
print("loss per epoch", np.round(losses, 3))

with tf.GradientTape() as tape:
    probe = ce(tgt[:1], lm(src[:1]))
table_grad = tape.gradient(probe, lm.tok.embeddings.value)
touched = np.flatnonzero(np.abs(tf.convert_to_tensor(table_grad).numpy()).sum(1))
print("rows of the table that one sentence moves:", len(touched), "of", VOCAB)
# a tied softmax moves every row; here only the words that were read
assert set(touched) <= set(src[0].tolist())
assert losses[-1] > 1.0                  # the entropy of the chain is about 0.42
assert not np.allclose(lm.tied.kernel_t.numpy(), lm.tok.embeddings.numpy().T, atol=0.05)
