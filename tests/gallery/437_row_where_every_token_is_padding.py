# case: row_where_every_token_is_padding
# verdict: bug; static: no
# cause: nan-exp | nan-division | nan-empty-reduce
# expect_line: 26
# expect_variables: query/*, key/*
# symptom_today: silent: softmax of a row of -inf is NaN, and so are all gradients
# exit: 0
# fix: a large finite number instead of -inf, or drop the empty sequences
# seen: attention masks in batches with empty documents
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(12)


class SelfAttention(keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = (keras.layers.Dense(width, name=n) for n in ("query", "key", "value"))
        self.scale = width**-0.5

    def call(self, x, mask):
        scores = tf.matmul(self.q(x), self.k(x), transpose_b=True) * self.scale
        scores = tf.where(mask[:, None, :], scores, -np.inf)
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.matmul(weights, self.v(x))


def train(ids, labels, steps=2):
    embed, attend, head = keras.layers.Embedding(15, 6), SelfAttention(6), keras.layers.Dense(1)
    opt = keras.optimizers.Adam(1e-3)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            mask = ids > 0
            h = attend(embed(ids), mask)
            keep = tf.cast(mask, tf.float32)[..., None]
            pooled = tf.math.divide_no_nan(tf.reduce_sum(h * keep, 1), tf.reduce_sum(keep, 1))
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, head(pooled)))
        variables = embed.trainable_variables + attend.trainable_variables + head.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


ids = tf.constant([[3, 5, 0], [7, 0, 0], [0, 0, 0], [2, 4, 9]])
assert np.isnan(train(ids, tf.constant([[1.0], [0.0], [0.0], [1.0]])))
