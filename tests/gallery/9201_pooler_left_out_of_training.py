# case: pooler_left_out_of_training
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: huggingface/transformers#2256 (the pooler has no gradient in a token task; harmless)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class TinyBert(keras.Model):
    def __init__(self, vocab=40, dim=8):
        super().__init__()
        self.embed = keras.layers.Embedding(vocab, dim, name="embed")
        self.attend = keras.layers.MultiHeadAttention(2, 4, name="attend")
        self.pooler = keras.layers.Dense(dim, activation="tanh", name="pooler")

    def call(self, ids):
        h = self.embed(ids)
        h = h + self.attend(h, h)
        return h, self.pooler(h[:, 0])


bert = TinyBert()
tagger = keras.layers.Dense(3, name="tagger")
ids = tf.constant(np.random.default_rng(0).integers(1, 40, size=(16, 6)))
tags = ids % 3
tagger(bert(ids)[0])
unused = {v.path for v in bert.pooler.trainable_variables}
weights = [v for v in bert.trainable_variables + tagger.trainable_variables if v.path not in unused]   # token task: no pooler
opt = keras.optimizers.Adam(2e-2)
losses = []
for step in range(25):
    with tf.GradientTape() as tape:
        tokens, _ = bert(ids)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tags, tagger(tokens)))
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    losses.append(float(loss))
assert losses[-1] < 0.7 * losses[0]
print("ok", losses[0], losses[-1])
