# case: attention_mask_half
# verdict: bug
# cause: nan-float16
# expect_line: 41 63
# expect_variables: -
# symptom_today: loss is nan from the first batch, only with mixed_float16; the loss scale optimizer skips every step, so no weight ever moves
# exit: 0
# fix: build the mask term (and the softmax) in float32, or use a number that float16 can hold, such as -1e4
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(13)
keras.mixed_precision.set_global_policy("mixed_float16")  # to save memory on the GPU

VOCAB, MAXLEN, DIM = 40, 12, 16


def make_reviews(n=1024):
    """0 is padding; a review is positive when it has more 'good' (1..19) than 'bad' (20..39) tokens."""
    tokens = np.random.randint(1, VOCAB, size=(n, MAXLEN))
    lengths = np.random.randint(5, MAXLEN + 1, size=n)
    tokens[np.arange(MAXLEN)[None, :] >= lengths[:, None]] = 0
    good = ((tokens > 0) & (tokens < 20)).sum(1)
    bad = (tokens >= 20).sum(1)
    return tokens.astype("int32"), (good > bad).astype("float32")[:, None]


class MaskedAttention(layers.Layer):
    """Single-head self-attention that must not look at the padding."""

    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.dim = dim
        self.q, self.k, self.v = (layers.Dense(dim, use_bias=False) for _ in range(3))

    def call(self, x, keep):
        scores = tf.matmul(self.q(x), self.k(x), transpose_b=True) / self.dim ** 0.5
        keep = tf.cast(keep, scores.dtype)[:, None, :]
        scores += (1.0 - keep) * -1e9
        return tf.matmul(tf.nn.softmax(scores, axis=-1), self.v(x))


class MeanOverTokens(layers.Layer):
    def call(self, x, keep):
        keep = tf.cast(keep, x.dtype)[:, :, None]
        return tf.reduce_sum(x * keep, axis=1) / tf.reduce_sum(keep, axis=1)


class ReviewNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(VOCAB, DIM)
        self.attend = MaskedAttention(DIM)
        self.pool = MeanOverTokens()
        self.hidden = layers.Dense(16, activation="tanh")
        self.out = layers.Dense(1, activation="sigmoid", dtype="float32")

    def call(self, tokens):
        keep = tf.not_equal(tokens, 0)
        x = self.embed(tokens)
        x = x + self.attend(x, keep)
        return self.out(self.hidden(self.pool(x, keep)))


x, y = make_reviews()
model = ReviewNet()
model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=64, epochs=6, verbose=2)
