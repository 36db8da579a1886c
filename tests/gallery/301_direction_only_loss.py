# case: direction_only_loss
# verdict: bug; static: yes
# cause: zero-gradient-op | non-differentiable-op
# expect_line: 16
# expect_variables: lstm/*, dense/* (trend/*)
# symptom_today: silent: all gradients are exactly zero, the loss never changes
# exit: 0
# fix: a smooth stand-in such as tanh(10 * x)
# seen: stock prediction with a "same direction" loss
import keras
import numpy as np
import tensorflow as tf


def direction_loss(y_true, y_pred):
    agree = tf.sign(y_true) * tf.sign(y_pred)
    return tf.reduce_mean(1.0 - agree, axis=-1)


prices = keras.Input((12, 1))
h = keras.layers.LSTM(5)(prices)
trend = keras.Model(prices, keras.layers.Dense(1)(h), name="trend")
trend.compile(optimizer=keras.optimizers.Adam(1e-2), loss=direction_loss)
rng = np.random.default_rng(3)
x = rng.normal(size=(48, 12, 1)).astype("float32")
y = x[:, -1] * 0.5
before = [w.copy() for w in trend.get_weights()]
history = trend.fit(x, y, epochs=2, verbose=0).history["loss"]
print(history)
assert all(np.array_equal(a, b) for a, b in zip(before, trend.get_weights()))
