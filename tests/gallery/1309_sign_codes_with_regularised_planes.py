# case: sign_codes_with_regularised_planes
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 27
# expect_variables: planes/kernel
# symptom_today: silent: the gradient of the planes is only that of their L2 regulariser; they keep their direction
# exit: 0
# fix: tf.tanh while training (or sign straight-through), sign only when the index is built
# seen: terms of the loss: cross entropy (zero for planes), L2 regularisers (reach all kernels)
import keras
import numpy as np
import tensorflow as tf
from keras import layers, regularizers

keras.utils.set_random_seed(40)


class HashLayer(layers.Layer):
    def __init__(self, bits, weight_decay, **kw):
        super().__init__(**kw)
        self.planes = layers.Dense(bits, use_bias=False, kernel_regularizer=regularizers.L2(weight_decay), name="planes")

    def build(self, shape):
        self.planes.build(shape)

    def call(self, features):
        return tf.sign(self.planes(features))


def retrieval_model(features, bits, classes):
    inputs = keras.Input((features,), name="descriptor")
    code = HashLayer(bits, 1e-3, name="hash")(inputs)
    hidden = layers.Dense(16, activation="relu", kernel_regularizer=regularizers.L2(1e-4))(code)
    return keras.Model(inputs, layers.Dense(classes, kernel_regularizer=regularizers.L2(1e-4))(hidden))


rng = np.random.default_rng(40)
centres = rng.normal(size=(5, 10))
labels = rng.integers(0, 5, size=200)
descriptors = (centres[labels] + 0.8 * rng.normal(size=(200, 10))).astype("float32")
model = retrieval_model(10, 12, 5)
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
before = model.get_layer("hash").get_weights()[0].copy()
history = model.fit(descriptors, labels, epochs=4, batch_size=50, verbose=0).history
after = model.get_layer("hash").get_weights()[0]
print(history["loss"], history["accuracy"])
cosine = np.sum(before * after, axis=0) / np.linalg.norm(before, axis=0) / np.linalg.norm(after, axis=0)
assert np.allclose(cosine, 1.0, atol=1e-5) and np.linalg.norm(after) < np.linalg.norm(before)
