# case: vq_codebook_loss_on_straight_through
# verdict: bug
# cause: stop-gradient
# expect_line: 54  55
# expect_variables: codebook
# symptom_today: the reconstruction loss falls, only the codes stay at their initial values (Keras warns once that codebook has no gradient)
# exit: 0
# fix: compute both quantisation losses from the rows of the codebook, before they are replaced by the straight-through output
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)
CONFIG = dict(n_codes=12, code_dim=4, hidden=32, commitment=2.0, batch=32, epochs=6, lr=3e-3)


def make_patches(n=512, dim=16, n_clusters=8, seed=0):
    """Flattened 4x4 patches around a handful of prototypes."""
    rng = np.random.default_rng(seed)
    prototypes = rng.normal(size=(n_clusters, dim))
    label = rng.integers(0, n_clusters, n)
    return (prototypes[label] + 0.15 * rng.normal(size=(n, dim))).astype("float32")


class VectorQuantizer(layers.Layer):
    """Nearest-neighbour lookup in a learned codebook (van den Oord et al., 2017)."""

    def __init__(self, n_codes, code_dim, commitment, **kwargs):
        super().__init__(**kwargs)
        self.n_codes = n_codes
        self.code_dim = code_dim
        self.commitment = commitment

    def build(self, input_shape):
        self.codebook = self.add_weight(
            shape=(self.n_codes, self.code_dim),
            initializer=keras.initializers.RandomUniform(-1.0, 1.0, seed=3),
            name="codebook",
        )

    def nearest(self, z):
        distance = (
            tf.reduce_sum(z ** 2, axis=1, keepdims=True)
            - 2.0 * tf.matmul(z, self.codebook, transpose_b=True)
            + tf.reduce_sum(self.codebook ** 2, axis=1)
        )
        return tf.argmin(distance, axis=1)

    def call(self, z):
        quantized = tf.gather(self.codebook, self.nearest(z))
        quantized = z + tf.stop_gradient(quantized - z)
        codebook_loss = tf.reduce_mean((quantized - tf.stop_gradient(z)) ** 2)
        commitment_loss = tf.reduce_mean((tf.stop_gradient(quantized) - z) ** 2)
        self.add_loss(codebook_loss + self.commitment * commitment_loss)
        return quantized


def build_vqvae(dim, cfg):
    inputs = keras.Input((dim,))
    h = layers.Dense(cfg["hidden"], activation="gelu", name="enc_hidden")(inputs)
    z = layers.Dense(cfg["code_dim"], name="enc_out")(h)
    q = VectorQuantizer(cfg["n_codes"], cfg["code_dim"], cfg["commitment"], name="quantizer")(z)
    h = layers.Dense(cfg["hidden"], activation="gelu", name="dec_hidden")(q)
    outputs = layers.Dense(dim, name="dec_out")(h)
    return keras.Model(inputs, outputs, name="vqvae")


x = make_patches()
model = build_vqvae(x.shape[1], CONFIG)
model.compile(keras.optimizers.Adam(CONFIG["lr"]), loss="mse", metrics=["mae"])
quantizer = model.get_layer("quantizer")
codes_before = quantizer.codebook.numpy().copy()
encoder_before = model.get_layer("enc_out").kernel.numpy().copy()

history = model.fit(x, x, batch_size=CONFIG["batch"], epochs=CONFIG["epochs"], verbose=0)
print("loss", [round(v, 3) for v in history.history["loss"]])

moved = np.abs(quantizer.codebook.numpy() - codes_before).max()
print("codes moved by", moved, " encoder by", np.abs(model.get_layer("enc_out").kernel.numpy() - encoder_before).max())
assert moved == 0.0
assert np.abs(model.get_layer("enc_out").kernel.numpy() - encoder_before).max() > 1e-3

# what the codebook should have been given
encoder = keras.Model(model.inputs[0], model.get_layer("enc_out").output)
z = encoder(x[:64])
with tf.GradientTape() as tape:
    rows = tf.gather(quantizer.codebook, quantizer.nearest(z))
    loss = tf.reduce_mean((rows - tf.stop_gradient(z)) ** 2)
right = tf.convert_to_tensor(tape.gradient(loss, quantizer.codebook.value))
assert float(tf.norm(right)) > 1e-3
