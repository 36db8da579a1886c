# case: quantiser_forgets_step_size
# verdict: bug; static: no
# cause: custom-gradient
# expect_line: 22
# expect_variables: quant/step
# symptom_today: UserWarning: Gradients do not exist for variables ['sequential/quant/step'] when minimizing the loss
# exit: 0
# fix: return a gradient for step as well (as in learned step size quantisation)
# source: pumpikano/tf-dann#27 (custom_gradient that returns None for its second argument: 'why?')
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


@tf.custom_gradient
def fake_quantise(x, step):
    q = tf.round(x / step) * step

    def backward(upstream):
        return upstream, None

    return q, backward


class QuantDense(keras.layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.step = self.add_weight(shape=(), initializer=keras.initializers.Constant(0.25), name="step")

    def call(self, x):
        kernel = fake_quantise(tf.convert_to_tensor(self.kernel), tf.convert_to_tensor(self.step))
        return tf.matmul(x, kernel)


model = keras.Sequential([keras.layers.Input((6,)), QuantDense(8, name="quant"), keras.layers.ReLU(), keras.layers.Dense(1, name="head")])
model.compile(keras.optimizers.Adam(1e-2), "mse")
x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
model.fit(x, np.abs(x[:, :1]), epochs=3, verbose=0)
print("step size after training:", float(model.get_layer("quant").step))
