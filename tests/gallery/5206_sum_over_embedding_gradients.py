# case: sum_over_embedding_gradients
# verdict: bug; static: no
# cause: indexed-slices
# expect_line: 39
# expect_variables: items/embeddings
# symptom_today: raises TypeError: unsupported operand type(s) for +: 'int' and 'IndexedSlices'
# exit: 1 (TypeError)
# fix: [tf.add_n([tf.convert_to_tensor(g) for g in group]) for group in zip(*history)]
# source: cybertronai/gradient-checkpointing PR#30 (gradients of an embedding are IndexedSlices and cannot be added with +), bojone/accum_optimizer_for_keras#8 (same in an accumulating optimizer)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Recommender(keras.Model):
    def __init__(self, users=15, items=40, dim=4):
        super().__init__()
        self.users = keras.layers.Embedding(users, dim, name="users")
        self.items = keras.layers.Embedding(items, dim, name="items")
        self.bias = keras.layers.Dense(1)

    def call(self, pair):
        joined = self.users(pair[:, 0]) * self.items(pair[:, 1])
        return self.bias(joined)


rng = np.random.default_rng(0)
pairs = np.stack([rng.integers(0, 15, 96), rng.integers(0, 40, 96)], axis=1).astype("int32")
stars = rng.integers(1, 6, size=(96, 1)).astype("float32")
model, opt = Recommender(), keras.optimizers.Adagrad(0.1)
history = []
for start in range(0, 96, 24):
    with tf.GradientTape() as tape:
        error = model(pairs[start:start + 24]) - stars[start:start + 24]
        loss = tf.reduce_mean(tf.square(error)) / 4
    history.append(tape.gradient(loss, model.trainable_variables))
summed = [sum(group) for group in zip(*history)]
opt.apply_gradients(zip(summed, model.trainable_variables))
