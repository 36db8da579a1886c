# case: codebook_without_straight_through
# verdict: bug; static: no
# cause: stop-gradient
# expect_line: 25
# expect_variables: encoder/* (the codebook and decoder train)
# symptom_today: Keras warns that gradients do not exist for encoder/*; loss falls a little
# exit: 0
# fix: straight-through: z + stop_gradient(quantised - z), and a commitment loss
# seen: first attempts at VQ-VAE
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class VQ(keras.Model):
    def __init__(self, codes=8, dim=3):
        super().__init__()
        self.encoder = keras.layers.Dense(dim, name="encoder")
        self.decoder = keras.layers.Dense(6, name="decoder")
        self.codebook = self.add_weight(shape=(codes, dim), initializer="random_normal", name="codebook")

    def call(self, x):
        z = tf.stop_gradient(self.encoder(x))
        apart = tf.reduce_sum((z[:, None, :] - self.codebook[None]) ** 2, axis=-1)
        nearest = tf.argmin(apart, axis=-1)
        q = tf.gather(self.codebook, nearest)
        self.add_loss(tf.reduce_mean((q - z) ** 2))
        return self.decoder(q)


model = VQ()
model.compile(keras.optimizers.Adam(0.02), loss="mse")
x = np.random.default_rng(1).normal(size=(64, 6)).astype("float32")
model(x[:1])
start = model.encoder.get_weights()[0].copy()
log = model.fit(x, x, epochs=3, verbose=0).history["loss"]
print(log)
assert np.array_equal(start, model.encoder.get_weights()[0]) and log[-1] < log[0]
