# case: calibrated_mixture_layer
# verdict: bug
# cause: untracked-variable
# expect_line: 20 21
# expect_variables: -
# symptom_today: variables made with tf.Variable that the layer does not list and on Keras 3
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(8)


class ExpertMixture(keras.layers.Layer):
    def __init__(self, experts, units, **kwargs):
        super().__init__(**kwargs)
        self.experts = [keras.layers.Dense(units, activation="tanh") for _ in range(experts)]
        self.mixing = tf.Variable(tf.zeros((experts,)), name="mixing")
        self.sharpness = tf.Variable(1.0, name="sharpness")

    def call(self, x):
        outputs = tf.stack([expert(x) for expert in self.experts], axis=-1)
        share = tf.nn.softmax(self.sharpness * self.mixing)
        return tf.reduce_sum(outputs * share, axis=-1)


def build_model():
    inputs = keras.Input((5,))
    x = ExpertMixture(3, 12)(inputs)
    return keras.Model(inputs, keras.layers.Dense(1)(x))


rng = np.random.default_rng(7)
x = rng.normal(size=(300, 5)).astype("float32")
y = np.sin(x[:, :1]) + 0.3 * x[:, 1:2]

model = build_model()
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
history = model.fit(x, y, epochs=6, batch_size=30, verbose=0)
mixture = model.layers[1]
print("loss", history.history["loss"][0], history.history["loss"][-1])
print("mixing", mixture.mixing.numpy(), "sharpness", float(mixture.sharpness))
