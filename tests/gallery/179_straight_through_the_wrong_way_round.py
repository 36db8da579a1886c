# case: straight_through_the_wrong_way_round
# verdict: bug; static: no
# cause: non-differentiable-op | stop-gradient
# expect_line: 17 18
# expect_variables: encoder/*
# symptom_today: Keras warns for the encoder; only the decoder trains
# exit: 0
# fix: h + tf.stop_gradient(tf.round(h) - h)
# seen: binary bottlenecks with a hand-typed straight-through estimator
import keras
import numpy as np
import tensorflow as tf


class Bits(keras.layers.Layer):
    def call(self, h):
        hard = tf.round(h)
        return hard + tf.stop_gradient(h - hard)


class BitAutoencoder(keras.Model):
    def __init__(self, bits):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(bits, activation="sigmoid"), Bits()], name="encoder")
        self.decoder = keras.layers.Dense(6, name="decoder")

    def call(self, x):
        return self.decoder(self.encoder(x))


keras.utils.set_random_seed(2)
auto = BitAutoencoder(8)
auto.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse")
x = np.random.default_rng(2).normal(size=(64, 6)).astype("float32")
auto(x[:1])
before = auto.encoder.get_weights()
auto.fit(x, x, epochs=3, verbose=0)
after = auto.encoder.get_weights()
assert all(np.array_equal(a, b) for a, b in zip(before, after))
