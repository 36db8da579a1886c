# case: low_rank_adapters_from_zero
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: LoRA: one factor starts at zero, so the other has no gradient in the first step
import keras
import numpy as np
import tensorflow as tf


class LoRA(keras.layers.Layer):
    def __init__(self, dense, rank=2):
        super().__init__()
        self.dense, self.rank = dense, rank
        self.dense.trainable = False

    def build(self, shape):
        self.down = self.add_weight(shape=(shape[-1], self.rank), name="down")
        self.up = self.add_weight(shape=(self.rank, self.dense.units), initializer="zeros", name="up")

    def call(self, x):
        return self.dense(x) + tf.matmul(tf.matmul(x, self.down), self.up)


keras.utils.set_random_seed(5)
pretrained = keras.layers.Dense(4)
pretrained.build((None, 6))
adapted = LoRA(pretrained)
opt = keras.optimizers.SGD(0.2)
x = tf.random.normal((32, 6), seed=5)
adapted(x)
losses = []
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((adapted(x) - x[:, :4]) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, adapted.trainable_variables), adapted.trainable_variables))
    losses.append(float(loss))
print(losses[0], losses[-1])
assert len(adapted.trainable_variables) == 2 and losses[-1] < losses[0]
assert np.isfinite(losses[-1])
