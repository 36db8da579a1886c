# case: divergence_attached_to_a_functional_model
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 28
# expect_variables: -
# symptom_today: raises NotImplementedError in model.add_loss
# exit: 1 (NotImplementedError)
# fix: add_loss inside a layer's call
# seen: variational autoencoders of the old documentation under Keras 3
import keras
import numpy as np
from keras import layers, ops


class Sample(layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        return mean + ops.exp(0.5 * log_var) * keras.random.normal(ops.shape(mean))


inputs = keras.Input((10,))
h = layers.Dense(16, activation="relu")(inputs)
z_mean, z_log_var = layers.Dense(2)(h), layers.Dense(2)(h)
z = Sample()([z_mean, z_log_var])
outputs = layers.Dense(10)(layers.Dense(16, activation="relu")(z))
vae = keras.Model(inputs, outputs)
kl = -0.5 * ops.mean(1.0 + z_log_var - ops.square(z_mean) - ops.exp(z_log_var))
vae.add_loss(kl)
vae.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(0).normal(size=(32, 10)).astype("float32")
vae.fit(x, x, epochs=1, verbose=0)
