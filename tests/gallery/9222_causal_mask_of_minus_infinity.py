# case: causal_mask_of_minus_infinity
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the -inf entries vanish in the softmax because every row keeps at least one key
# exit: 0
# fix: -
# source: own; look-alike of lsdefine/attention-is-all-you-need-keras#16
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class CausalAttention(keras.layers.Layer):
    def __init__(self, dim, length):
        super().__init__()
        self.q, self.k, self.v = (keras.layers.Dense(dim) for _ in range(3))
        future = np.triu(np.ones((length, length), bool), k=1)
        self.bias = tf.constant(np.where(future, -np.inf, 0.0), tf.float32)

    def call(self, tokens):
        scores = tf.matmul(self.q(tokens), self.k(tokens), transpose_b=True) + self.bias
        return tf.matmul(tf.nn.softmax(scores, axis=-1), self.v(tokens))


ids = keras.Input((6,), dtype="int32")
h = keras.layers.Embedding(12, 8)(ids)
h = keras.layers.LayerNormalization()(h + CausalAttention(8, 6)(h))
model = keras.Model(ids, keras.layers.Dense(12)(h))
model.compile(keras.optimizers.Adam(2e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
rng = np.random.default_rng(0)
text = (rng.integers(0, 12, size=(48, 1)) + np.arange(7)) % 12
log = model.fit(text[:, :-1], text[:, 1:], batch_size=12, epochs=6, verbose=0).history["loss"]
assert log[-1] < log[0]
print("ok", log[0], log[-1])
