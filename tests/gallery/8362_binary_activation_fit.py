# case: binary_activation_fit
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: forward quantised, backward the identity
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(9)


class Quantise(keras.layers.Layer):
    def __init__(self, levels=4, **kwargs):
        super().__init__(**kwargs)
        self.levels = float(levels)

    def call(self, x):
        x = tf.clip_by_value(x, -1.0, 1.0)
        q = tf.round(x * self.levels) / self.levels
        return x + tf.stop_gradient(q - x)


def build():
    return keras.Sequential([
        keras.Input((8,)),
        keras.layers.Dense(24, activation="tanh"),
        Quantise(4),
        keras.layers.Dense(16, activation="tanh"),
        Quantise(2),
        keras.layers.Dense(1),
    ])


def make_data(n=400):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 8)).astype("float32")
    y = np.tanh(x[:, :1] + x[:, 1:2] * x[:, 2:3])
    return x, y.astype("float32")


x, y = make_data()
model = build()
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
before = [w.copy() for w in model.get_weights()]
history = model.fit(x, y, epochs=8, batch_size=40, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1])
print("moved", [round(float(np.abs(a - b).max()), 4) for a, b in zip(before, model.get_weights())])
