# case: quantisation_aware_with_learned_range
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (fake_quant rounds, but has a straight-through gradient)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class FakeQuant(keras.layers.Layer):
    def build(self, shape):
        self.low = self.add_weight(shape=(), initializer=keras.initializers.Constant(-1.0), name="low")
        self.high = self.add_weight(shape=(), initializer=keras.initializers.Constant(1.0), name="high")

    def call(self, x):
        return tf.quantization.fake_quant_with_min_max_vars(x, tf.convert_to_tensor(self.low), tf.convert_to_tensor(self.high), num_bits=4)


model = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(16, name="wide"), FakeQuant(name="quant"),
                          keras.layers.ReLU(), keras.layers.Dense(1, name="out")])
model.compile(keras.optimizers.Adam(1e-2), "mse")
x = np.random.default_rng(0).normal(size=(96, 5)).astype("float32")
start = (model.get_layer("wide").get_weights()[0].copy(), float(model.get_layer("quant").high))
loss = model.fit(x, np.abs(x).sum(1, keepdims=True), epochs=8, verbose=0).history["loss"]
assert loss[-1] < loss[0] and float(model.get_layer("quant").high) != start[1]
assert not np.array_equal(start[0], model.get_layer("wide").get_weights()[0])
print("ok", loss[0], loss[-1], float(model.get_layer("quant").high))
