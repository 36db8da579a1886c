# case: translation_with_additive_attention
# verdict: healthy
# cause: - (duplicate-sparse-rows may be noted)
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (seq2seq pattern)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)


class Seq2Seq(keras.Model):
    def __init__(self, vocab, units=24):
        super().__init__()
        self.src = layers.Embedding(vocab, units)
        self.dst = layers.Embedding(vocab, units)
        self.encoder = layers.GRU(units, return_sequences=True, return_state=True)
        self.cell = layers.GRUCell(units)
        self.wq, self.wk, self.v = layers.Dense(units), layers.Dense(units), layers.Dense(1)
        self.out = layers.Dense(vocab)

    def call(self, source, target):
        keep = source != 0
        memory, h = self.encoder(self.src(source), mask=keep)
        keys = self.wk(memory)
        words = self.dst(target)
        outputs = tf.TensorArray(tf.float32, size=target.shape[1])
        for t in range(target.shape[1]):
            score = tf.squeeze(self.v(tf.tanh(keys + self.wq(h)[:, None, :])), -1)
            score = tf.where(keep, score, -1e9)
            context = tf.reduce_sum(tf.nn.softmax(score)[:, :, None] * memory, 1)
            _, (h,) = self.cell(tf.concat([words[:, t], context], -1), [h])
            outputs = outputs.write(t, self.out(h))
        return tf.transpose(outputs.stack(), (1, 0, 2))


rng = np.random.default_rng(0)
src = rng.integers(1, 10, (48, 6))
length = rng.integers(3, 7, 48)
src[np.arange(6)[None] >= length[:, None]] = 0
dst = np.where(src > 0, src, 0)
dst_in = np.c_[np.full(48, 10), dst[:, :-1]]
model = Seq2Seq(11)
opt = keras.optimizers.Adam(1e-2)
model(tf.constant(src), tf.constant(dst_in))


@tf.function
def step(s, d_in, d_out):
    with tf.GradientTape() as tape:
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(d_out, model(s, d_in, training=True))
        weight = tf.cast(d_out != 0, tf.float32)
        loss = tf.reduce_sum(ce * weight) / tf.reduce_sum(weight)
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


log = [float(step(tf.constant(src), tf.constant(dst_in), tf.constant(dst))) for _ in range(25)]
print(log[0], log[-1])
assert log[-1] < log[0]
