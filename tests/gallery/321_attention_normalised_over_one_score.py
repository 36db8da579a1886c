# case: attention_normalised_over_one_score
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 23
# expect_variables: score/*
# symptom_today: silent: the attention weights are all one, the scorer has a zero gradient
# exit: 0
# fix: softmax over the time axis (axis=1)
# seen: attention pooling over recurrent states, softmax left on the last axis
import keras
import numpy as np
import tensorflow as tf


class AttentionPool(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.hidden = keras.layers.Dense(units, activation="tanh", name="hidden")
        self.score = keras.layers.Dense(1, use_bias=False, name="score")

    def call(self, states):
        scores = self.score(self.hidden(states))
        weights = tf.nn.softmax(scores)
        return tf.reduce_sum(weights * states, axis=1)


keras.utils.set_random_seed(8)
pool = AttentionPool(6)
inputs = keras.Input((7, 4))
h = keras.layers.LSTM(8, return_sequences=True)(inputs)
model = keras.Model(inputs, keras.layers.Dense(1)(pool(h)))
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((32, 7, 4), seed=8)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - x[:, 3, :1]) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


before = pool.score.kernel.numpy()
losses = [float(step()) for _ in range(5)]
assert losses[-1] < losses[0] and np.array_equal(before, pool.score.kernel.numpy())
