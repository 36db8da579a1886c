# case: codebook_loss_after_straight_through
# verdict: bug; static: no
# cause: stop-gradient
# expect_line: 28 29
# expect_variables: vq/codebook
# symptom_today: UserWarning: Gradients do not exist for variables ['vq/codebook'] when minimizing the loss; the codebook keeps its start values
# exit: 0
# fix: compute the codebook loss from picked, before the straight-through line
# source: andylolu2/jax-vqvae-gpt#2 and showlab/Olaf-World#8 (codebook loss computed on the straight-through output)
import numpy as np
import tensorflow as tf
import keras
from keras import ops

keras.utils.set_random_seed(0)


class VectorQuantiser(keras.layers.Layer):
    def __init__(self, n_codes, dim, beta=0.25, **kw):
        super().__init__(**kw)
        self.beta = beta
        self.codebook = self.add_weight(shape=(n_codes, dim), initializer="random_uniform", name="codebook")

    def call(self, z):
        distances = (ops.sum(z ** 2, axis=1, keepdims=True) - 2 * ops.matmul(z, ops.transpose(self.codebook))
                     + ops.sum(self.codebook ** 2, axis=1))
        picked = ops.take(self.codebook, ops.argmin(distances, axis=1), axis=0)
        quantised = z + ops.stop_gradient(picked - z)
        self.add_loss(ops.mean((quantised - ops.stop_gradient(z)) ** 2))
        self.add_loss(self.beta * ops.mean((ops.stop_gradient(quantised) - z) ** 2))
        return quantised


frames = keras.Input((10,))
z = keras.layers.Dense(4, name="encoder")(frames)
zq = VectorQuantiser(8, 4, name="vq")(z)
vqvae = keras.Model(frames, keras.layers.Dense(10, name="decoder")(zq))
vqvae.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
x = np.random.default_rng(0).normal(size=(64, 10)).astype("float32")
codes = vqvae.get_layer("vq").codebook.numpy().copy()
print(vqvae.fit(x, x, epochs=3, verbose=0).history["loss"])
print("codebook moved:", not np.array_equal(codes, vqvae.get_layer("vq").codebook.numpy()))
