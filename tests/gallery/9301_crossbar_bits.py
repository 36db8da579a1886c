# case: crossbar_bits
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the weights go through sign() and a stop_gradient, but a custom gradient passes the gradient straight through
# exit: 0
# fix: -
# source: tensorpack/tensorpack#888: is the DoReFa one-bit weight sign(x/E)*E with a custom gradient wrong, as sign gives 0 at 0? The maintainer: in practice it makes no difference
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(29)

BITS = {"hidden1": 1, "hidden2": 1, "scores": 32}


def weight_quantizer(bits):
    def full(w):
        return w

    def binary(w):
        scale = tf.stop_gradient(tf.reduce_mean(tf.abs(w)))

        @tf.custom_gradient
        def to_bits(w):
            def passed_on(upstream):
                return upstream
            return tf.sign(w / scale) * scale, passed_on

        return to_bits(w)

    return {1: binary, 32: full}[bits]


class CrossbarDense(layers.Layer):
    """Dense layer as it will run on a crossbar: one bit for a weight and one scale for the array."""

    def __init__(self, units, bits, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.bits = bits
        self.quantize = weight_quantizer(bits)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="he_normal", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x):
        w = self.quantize(tf.convert_to_tensor(self.kernel))
        return tf.matmul(x, w) + self.bias


def gestures(n, seed):
    """Twenty accelerometer features of four gestures."""
    rng = np.random.default_rng(seed)
    centre = np.random.default_rng(100).normal(size=(4, 20))
    label = rng.integers(0, 4, n)
    x = centre[label] * rng.uniform(0.6, 1.4, (n, 1)) + 0.9 * rng.normal(size=(n, 20))
    return x.astype("float32"), label.astype("int32")


def build():
    inputs = keras.Input((20,))
    h = CrossbarDense(64, BITS["hidden1"], name="hidden1")(inputs)
    h = layers.BatchNormalization(name="norm1")(h)
    h = layers.Activation("relu")(h)
    h = CrossbarDense(64, BITS["hidden2"], name="hidden2")(h)
    h = layers.BatchNormalization(name="norm2")(h)
    h = layers.Activation("relu")(h)
    return keras.Model(inputs, CrossbarDense(4, BITS["scores"], name="scores")(h))


x, y = gestures(2048, seed=1)
x_val, y_val = gestures(512, seed=2)
model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
kernels = {name: model.get_layer(name).kernel for name in BITS}
before = {name: k.numpy() for name, k in kernels.items()}
history = model.fit(x, y, batch_size=64, epochs=6, validation_data=(x_val, y_val), verbose=0).history
for key, values in history.items():
    print(f"{key:13s}", np.round(values, 3))
for name, kernel in kernels.items():
    flipped = np.mean(np.sign(before[name]) != np.sign(kernel.numpy()))
    print(f"{name}: {100 * flipped:.1f} % of the signs flipped, moved by {np.abs(before[name] - kernel.numpy()).mean():.4f}")
    assert not np.allclose(before[name], kernel.numpy())
    assert flipped > 0.005

assert history["loss"][-1] < 0.5 * history["loss"][0]
assert history["val_accuracy"][-1] > 0.85
