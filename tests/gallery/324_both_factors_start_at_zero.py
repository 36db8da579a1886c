# case: both_factors_start_at_zero
# verdict: bug; static: no
# cause: zero-gradient-op | never-updated
# expect_line: 21 22 25
# expect_variables: down, up
# symptom_today: silent: each factor is the gradient of the other, both stay zero
# exit: 0
# fix: a random start for one of the two factors
# seen: low-rank adapters and matrix factorisation with zero initialisers
import numpy as np
import tensorflow as tf
import tf_keras


class LowRank(tf_keras.layers.Layer):
    def __init__(self, rank):
        super().__init__()
        self.rank = rank

    def build(self, shape):
        self.down = self.add_weight(name="down", shape=(shape[-1], self.rank), initializer="zeros")
        self.up = self.add_weight(name="up", shape=(self.rank, 3), initializer="zeros")

    def call(self, x):
        return tf.matmul(tf.matmul(x, self.down), self.up)


base = tf_keras.layers.Dense(3, trainable=False)
adapter = LowRank(2)
inputs = tf_keras.Input((5,))
model = tf_keras.Model(inputs, tf_keras.layers.Add()([base(inputs), adapter(inputs)]))
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(50, 5)).astype("float32")
losses = model.fit(x, x[:, :3], epochs=3, verbose=0).history["loss"]
print(losses)
assert not adapter.down.numpy().any() and not adapter.up.numpy().any()
