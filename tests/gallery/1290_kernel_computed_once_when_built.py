# case: kernel_computed_once_when_built
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 18
# expect_variables: positive/log_kernel
# symptom_today: Keras warns that the gradient of the variable does not exist; the layer keeps its first kernel
# exit: 0
# fix: compute the exponential in `call`, so that every step computes it
# source: own words, after reports of layers whose derived weights are made in `build`
import keras
import numpy as np
import tensorflow as tf

@keras.saving.register_keras_serializable()
class Positive(keras.layers.Layer):
    def build(self, shape):
        self.log_kernel = self.add_weight(shape=(shape[-1], 1), name="log_kernel")
        self.kernel = tf.exp(self.log_kernel)

    def call(self, x):
        return x @ self.kernel

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
assert np.array_equal(before, layer.log_kernel.numpy())
