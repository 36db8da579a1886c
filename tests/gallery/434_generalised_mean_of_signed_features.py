# case: generalised_mean_of_signed_features
# verdict: bug; static: no
# cause: nan-pow
# expect_line: 22
# expect_variables: p, conv2d/* (the pooling exponent and the convolution)
# symptom_today: silent: a negative base to a fractional power is NaN from the first batch on
# exit: 0
# fix: clip the features at a small positive number before the power
# seen: image retrieval models with a learned pooling exponent
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)


class GeM(keras.layers.Layer):
    def build(self, shape):
        self.p = self.add_weight(shape=(1,), initializer=keras.initializers.Constant(2.5), name="p")

    def call(self, maps):
        pooled = tf.reduce_mean(tf.pow(maps, self.p), axis=[1, 2])
        return tf.pow(pooled, 1.0 / self.p)


model = keras.Sequential([
    keras.layers.Input((8, 8, 3)),
    keras.layers.Conv2D(6, 3),
    GeM(),
    keras.layers.Dense(4, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
rng = np.random.default_rng(4)
history = model.fit(rng.random((16, 8, 8, 3), dtype="float32"), rng.integers(0, 4, 16), epochs=1, verbose=0)
assert np.isnan(history.history["loss"][0])
