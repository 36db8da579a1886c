# case: kernel_computed_in_every_call
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none
# exit: 0
# fix: -
# source: own words
import keras
import numpy as np
import tensorflow as tf

@keras.saving.register_keras_serializable()
class Positive(keras.layers.Layer):
    def build(self, shape):
        self.log_kernel = self.add_weight(shape=(shape[-1], 1), name="log_kernel")

    def call(self, x):
        return x @ tf.exp(self.log_kernel)

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
x = rng.normal(size=(64, 4)).astype("float32")
y = x @ np.array([[2.0], [1.0], [3.0], [0.5]], "float32") + 1.0
layer = Positive(name="positive")
layer.build((None, 4))
before = layer.log_kernel.numpy().copy()
net = keras.Sequential([layer, keras.layers.Dense(1)])
net.compile("sgd", "mse")
net.fit(x, y, epochs=3, verbose=0)
assert not np.array_equal(before, layer.log_kernel.numpy())
