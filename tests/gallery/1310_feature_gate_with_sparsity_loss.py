# case: feature_gate_with_sparsity_loss
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 30
# expect_variables: scorer/kernel, scorer/bias
# symptom_today: silent: no warning; the sparsity loss closes all gates, useful ones too
# exit: 0
# fix: multiply by the probabilities, or use a hard concrete or straight-through gate
# seen: terms of the loss: mean squared error (cut from scorer), add_loss of the gate (reaches scorer only)
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(9)


class FeatureGate(layers.Layer):
    def __init__(self, features, price=0.05, **kw):
        super().__init__(**kw)
        self.price = price
        self.scorer = layers.Dense(features, bias_initializer="ones", name="scorer")

    def build(self, shape):
        self.scorer.build(shape)

    def call(self, x):
        keep = tf.nn.sigmoid(self.scorer(x))
        self.add_loss(self.price * tf.reduce_mean(tf.reduce_sum(keep, axis=-1)))
        gate = tf.cast(keep > 0.5, x.dtype)
        return x * gate


class Regressor(keras.Model):
    def __init__(self, features):
        super().__init__()
        self.gate = FeatureGate(features, name="gate")
        self.hidden = layers.Dense(24, activation="gelu")
        self.out = layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(self.gate(x)))


rng = np.random.default_rng(9)
x = rng.normal(size=(192, 9)).astype("float32")
y = (2 * x[:, :1] - x[:, 1:2] * x[:, 2:3]).astype("float32")
model = Regressor(9)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
model(x[:1])
bias = model.gate.scorer.get_weights()[1].copy()
history = model.fit(x, y, epochs=5, batch_size=48, verbose=0).history
print(history["loss"], history["mae"])
print("open gates", float(np.mean(model.gate(x).numpy() != 0)))
assert np.all(model.gate.scorer.get_weights()[1] < bias)
