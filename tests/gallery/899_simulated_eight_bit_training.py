# case: simulated_eight_bit_training
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: quantisation-aware training with fake quantisation ops
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)


class QuantDense(keras.layers.Layer):
    def __init__(self, units, bits=8):
        super().__init__()
        self.units, self.bits = units, bits

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        self.low = self.add_weight(shape=(), initializer=keras.initializers.Constant(-3.0), name="low")
        self.high = self.add_weight(shape=(), initializer=keras.initializers.Constant(3.0), name="high")

    def call(self, x):
        x = tf.quantization.fake_quant_with_min_max_vars(x, self.low, self.high, num_bits=self.bits)
        kernel = tf.quantization.fake_quant_with_min_max_args(self.kernel, -2.0, 2.0, num_bits=self.bits)
        return tf.matmul(x, kernel) + self.bias


model = keras.Sequential([keras.layers.Input((4,)), QuantDense(16), keras.layers.ReLU(), QuantDense(1)])
model.compile(keras.optimizers.Adam(0.01), "mse")
x = np.random.default_rng(7).normal(size=(128, 4)).astype("float32") * 2.0
losses = model.fit(x, x[:, :1] * x[:, 1:2], epochs=5, verbose=0).history["loss"]
assert losses[-1] < losses[0]
