# case: vqvae_codebook_loss_first
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: andylolu2/jax-vqvae-gpt#2 (the corrected order)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(0)


class Quantiser(keras.layers.Layer):
    def __init__(self, codes, dim, **kw):
        super().__init__(**kw)
        self.book = self.add_weight(shape=(codes, dim), initializer="random_normal", name="book")

    def call(self, z):
        d = ops.sum(ops.square(ops.expand_dims(z, 1) - ops.expand_dims(self.book, 0)), axis=-1)
        q = ops.take(self.book, ops.argmin(d, axis=1), axis=0)
        self.add_loss(ops.mean(ops.square(q - ops.stop_gradient(z))) + 0.25 * ops.mean(ops.square(ops.stop_gradient(q) - z)))
        return z + ops.stop_gradient(q - z)


inp = keras.Input((8,))
z = keras.layers.Dense(3, name="enc")(inp)
quantiser = Quantiser(6, 3, name="quantiser")
model = keras.Model(inp, keras.layers.Dense(8, name="dec")(quantiser(z)))
model.compile(keras.optimizers.Adam(2e-2), "mse")
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
book, enc = quantiser.book.numpy().copy(), model.get_layer("enc").get_weights()[0].copy()
loss = model.fit(x, x, epochs=8, verbose=0).history["loss"]
assert loss[-1] < loss[0]
assert not np.array_equal(book, quantiser.book.numpy()) and not np.array_equal(enc, model.get_layer("enc").get_weights()[0])
print("ok", loss[0], loss[-1])
