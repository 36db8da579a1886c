# case: attention_pool_softmax_axis
# verdict: bug
# cause: zero-gradient-op | one-unit-softmax
# expect_line: 44 53
# expect_variables: att_hidden/*, att_score/*
# symptom_today: training runs, but every attention weight is exactly 1.0 and the two attention layers keep their initial weights (their gradients are exactly 0)
# exit: 0
# fix: weights = tf.nn.softmax(scores, axis=1), so that the weights of the time steps compete with each other
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)

# sensor windows: one of the 12 time steps carries a marker (column 0), and the
# target is the reading (column 1) of exactly that step
STEPS, FEATS, N = 12, 6, 512
rng = np.random.default_rng(21)
signal = rng.normal(0.0, 1.0, (N, STEPS, FEATS)).astype("float32")
signal[:, :, 0] = 0.0
marked = rng.integers(0, STEPS, N)
signal[np.arange(N), marked, 0] = 2.0
target = signal[np.arange(N), marked, 1:2]


class AdditiveAttentionPool(layers.Layer):
    """Bahdanau-style pooling of a sequence into one vector."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.hidden = layers.Dense(units, activation="tanh", name="att_hidden")
        self.score = layers.Dense(1, use_bias=False, name="att_score")

    def build(self, input_shape):
        self.hidden.build(input_shape)
        self.score.build((input_shape[0], input_shape[1], self.hidden.units))
        super().build(input_shape)

    def call(self, sequence, return_weights=False):
        scores = self.score(self.hidden(sequence))        # (batch, steps, 1)
        weights = tf.nn.softmax(scores)                   # (batch, steps, 1)
        pooled = tf.reduce_sum(weights * sequence, axis=1)
        if return_weights:
            return pooled, weights
        return pooled


inputs = keras.Input((STEPS, FEATS))
pool = AdditiveAttentionPool(16, name="attention_pool")
context = pool(inputs)
context = layers.Dense(32, activation="tanh", name="mix")(context)
prediction = layers.Dense(1, name="reading")(context)
model = keras.Model(inputs, prediction)

model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
before = pool.score.kernel.numpy().copy()
history = model.fit(signal, target, batch_size=64, epochs=12, verbose=0)
for epoch in (0, 3, 7, 11):
    print(f"epoch {epoch:2d}  mse {history.history['loss'][epoch]:.4f}")

# which step does it look at?
_, att = pool(signal[:3], return_weights=True)
print("attention of three windows:\n", att.numpy()[..., 0].round(2))
print("change of the scoring vector:", float(np.abs(pool.score.kernel.numpy() - before).max()))
