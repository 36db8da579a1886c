# case: feed_forward_part_rematerialised
# verdict: healthy
# cause: - (duplicate-sparse-rows may be noted)
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (keras.remat)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)


class Block(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.att = layers.MultiHeadAttention(2, dim // 2)
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.up, self.down = layers.Dense(2 * dim, activation="gelu"), layers.Dense(dim)

    def build(self, shape):
        self.att.build(shape, shape)
        self.n1.build(shape)
        self.n2.build(shape)
        self.up.build(shape)
        self.down.build(tuple(shape[:-1]) + (2 * shape[-1],))

    def call(self, x):
        h = self.n1(x)
        x = x + self.att(h, h)
        wide = keras.remat(lambda v: self.down(self.up(v)))
        return x + wide(self.n2(x))


class Reverser(keras.Model):
    def __init__(self):
        super().__init__()
        self.table = layers.Embedding(12, 16)
        self.place = layers.Embedding(8, 16)
        self.blocks = [Block(16) for _ in range(2)]
        self.out = layers.Dense(12)

    def call(self, ids):
        h = self.table(ids) + self.place(tf.range(8))
        for block in self.blocks:
            h = block(h)
        return self.out(h)


ids = np.random.default_rng(0).integers(0, 12, (64, 8))
model = Reverser()
model(ids[:1])
opt = keras.optimizers.Adam(5e-3)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.linalg.global_norm(grads)


log = [float(step(tf.constant(ids), tf.constant(ids[:, ::-1].copy()))[0]) for _ in range(25)]
print(log[0], log[-1])
assert log[-1] < log[0]
