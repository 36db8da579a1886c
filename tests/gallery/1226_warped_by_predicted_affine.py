# case: warped_by_predicted_affine
# verdict: bug; static: yes
# cause: non-differentiable-op
# expect_line: 22 29
# expect_variables: locator/*
# symptom_today: silent: UserWarning Gradients do not exist for the locator's variables; the classifier trains
# exit: 0
# fix: build the sampling grid from theta and interpolate by hand (gather and weights); the projective transform op has no gradient for the transform
# source: tensorflow/addons#2659 and tensorflow/tensorflow#30413 (no gradients to the transform)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(3)


class AffineWarp(layers.Layer):
    def call(self, image, theta):
        shift = keras.ops.zeros_like(theta[:, :2])
        matrix = keras.ops.concatenate([theta, shift], axis=1)
        return keras.ops.image.affine_transform(image, matrix, interpolation="bilinear")


picture = keras.Input((12, 12, 1))
locator = keras.Sequential(
    [layers.Flatten(), layers.Dense(8, activation="tanh"), layers.Dense(6, bias_initializer=lambda s, dtype=None: tf.constant([1.0, 0, 0, 0, 1.0, 0]))],
    name="locator")
warped = AffineWarp()(picture, locator(picture))
hidden = layers.Conv2D(4, 3, activation="relu")(warped)
label = layers.Dense(2, activation="softmax")(layers.GlobalAveragePooling2D()(hidden))
model = keras.Model(picture, label)
model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy")

rng = np.random.default_rng(0)
x = rng.uniform(size=(32, 12, 12, 1)).astype("float32")
y = (x[:, :6].mean((1, 2, 3)) > x[:, 6:].mean((1, 2, 3))).astype("int32")
before = [w.copy() for w in locator.get_weights()]
model.fit(x, y, epochs=2, batch_size=16, verbose=0)
assert all(np.array_equal(a, b) for a, b in zip(before, locator.get_weights()))
print("locator unchanged")
