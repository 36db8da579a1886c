# case: attention_softmax_over_scores_axis
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 29
# expect_variables: pool/hidden/*, pool/score/* (gradient exactly 0)
# symptom_today: silent: all attention weights are 1, the scorer never learns
# exit: 0
# fix: softmax over the time axis (axis=1)
# source: DEEP-PolyU/KEQA_WSDM19#2 and PetrochukM/PyTorch-NLP#2 (softmax over an axis of size 1: all weights 1.0)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class AttentionPool(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.hidden = keras.layers.Dense(8, activation="tanh", name="hidden")
        self.score = keras.layers.Dense(1, name="score")

    def build(self, shape):
        self.hidden.build(shape)
        self.score.build((*shape[:-1], 8))

    def call(self, sequence):
        scores = self.score(self.hidden(sequence))
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.reduce_sum(weights * sequence, axis=1)


steps = keras.Input((12, 4))
pool = AttentionPool(name="pool")
model = keras.Model(steps, keras.layers.Dense(1, name="head")(pool(steps)))
model.compile(keras.optimizers.Adam(1e-2), "mse")
x = np.random.default_rng(0).normal(size=(64, 12, 4)).astype("float32")
y = x[np.arange(64), x[:, :, 0].argmax(1), 1:2]
before = pool.score.get_weights()[0].copy()
print(model.fit(x, y, epochs=4, verbose=0).history["loss"])
print("score layer moved:", not np.array_equal(before, pool.score.get_weights()[0]))
assert np.array_equal(before, pool.score.get_weights()[0])
