# case: attention_padded_queries
# verdict: bug; static: no
# cause: nan-exp | nan-division | nan-empty-reduce
# expect_line: 26 25
# expect_variables: tagger/*
# symptom_today: silent: loss nan
# exit: 0
# fix: mask only the keys, or use a large finite number (-1e9) instead of -inf so that a fully masked row stays finite
# source: lsdefine/attention-is-all-you-need-keras#16 (a mask over the queries leaves whole rows without a key), pytorch/pytorch#41508 (same reasoning; padded queries masked too: nan)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class PaddedSelfAttention(keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = (keras.layers.Dense(dim) for _ in range(3))

    def call(self, tokens, present):
        scores = tf.matmul(self.q(tokens), self.k(tokens), transpose_b=True)
        both = tf.logical_and(present[:, :, None], present[:, None, :])
        scores = tf.where(both, scores, float("-inf"))
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.matmul(weights, self.v(tokens))


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(30, 8)
        self.attend = PaddedSelfAttention(8)
        self.out = keras.layers.Dense(1)

    def call(self, ids):
        present = tf.not_equal(ids, 0)
        mixed = self.attend(self.embed(ids), present)
        keep = tf.cast(present, tf.float32)[..., None]
        return self.out(tf.reduce_sum(mixed * keep, axis=1) / tf.reduce_sum(keep, axis=1))


rng = np.random.default_rng(0)
ids = rng.integers(1, 30, size=(32, 7))
for row, length in enumerate(rng.integers(3, 8, size=32)):
    ids[row, length:] = 0
model = Tagger()
model.compile("adam", "mse")
loss = model.fit(ids, rng.normal(size=(32, 1)), batch_size=8, epochs=1, verbose=0).history["loss"]
print("loss", loss)
assert np.isnan(loss[0])
