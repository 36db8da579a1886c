# case: attention_pooling_layer
# verdict: bug
# cause: nan-exp | nan-overflow | nan-division
# expect_line: 25 26
# expect_variables: -
# symptom_today: hand-written exp(scores)/sum(exp(scores)) overflowing, cf. the remedy of subtracting the maximum in and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)


class AttentionPooling(keras.layers.Layer):
    def __init__(self, heads=4, units=8, **kwargs):
        super().__init__(**kwargs)
        self.project = keras.layers.Dense(units)
        self.score = keras.layers.Dense(heads, use_bias=False)
        self.merge = keras.layers.Flatten()

    def call(self, sequence):
        energy = self.score(self.project(sequence))
        weights = tf.exp(energy)
        weights = weights / tf.reduce_sum(weights, axis=1, keepdims=True)
        return self.merge(tf.einsum("bth,btf->bhf", weights, sequence))


def build_model(steps, width):
    inputs = keras.Input((steps, width))
    pooled = AttentionPooling()(inputs)
    x = keras.layers.Dense(16, activation="tanh")(pooled)
    return keras.Model(inputs, keras.layers.Dense(1)(x))


def load_prices(n=128, steps=20):
    rng = np.random.default_rng(6)
    walk = 900.0 + np.cumsum(rng.normal(size=(n, steps, 2)), axis=1) * 10.0
    target = walk[:, -1, 0] - walk[:, 0, 0]
    return walk.astype("float32"), target.astype("float32")[:, None]


prices, change = load_prices()
model = build_model(prices.shape[1], prices.shape[2])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
history = model.fit(prices, change, epochs=2, batch_size=32, verbose=0)
print("loss", history.history["loss"])
