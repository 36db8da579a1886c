# case: hard_bernoulli_gate
# verdict: bug; static: yes
# cause: non-differentiable-op | non-reparameterised-sample
# expect_line: 29
# expect_variables: gate/keep/kernel, gate/keep/bias (no gradient)
# symptom_today: warning: Gradients do not exist for variables ... when minimizing the loss
# exit: 0
# fix: use a relaxed (binary concrete) gate or a straight-through estimator
# source: derived from tensorflow/probability#1534 (gradient estimation for discrete draws: REINFORCE or Gumbel-softmax needed) and kelvinxu/arctic-captions#9 (stochastic hard attention)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class StochasticGate(keras.layers.Layer):
    """Learns which features to keep; every forward pass draws a 0/1 mask."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.keep = keras.layers.Dense(units, activation="sigmoid", name="keep")

    def call(self, x, training=False):
        p = self.keep(x)
        if not training:
            return x * p
        draw = tf.random.uniform(tf.shape(p))
        mask = tf.cast(draw < p, x.dtype)
        return x * mask


inputs = keras.Input((8,))
h = StochasticGate(8, name="gate")(inputs)
outputs = keras.layers.Dense(1)(h)
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")

x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = x[:, :2].sum(axis=1, keepdims=True)
before = model.get_layer("gate").get_weights()[0].copy()
model.fit(x, y, batch_size=16, epochs=3, verbose=0)
print("gate learned:", bool((before != model.get_layer("gate").get_weights()[0]).any()))
assert np.array_equal(before, model.get_layer("gate").get_weights()[0])
