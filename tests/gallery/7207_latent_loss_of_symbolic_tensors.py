# case: latent_loss_of_symbolic_tensors
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 30
# expect_variables: -
# symptom_today: raises ValueError: A KerasTensor cannot be used as input to a TensorFlow function
# exit: 1 (ValueError)
# fix: compute the term in a layer's call() and use self.add_loss there (Model.add_loss on symbolic tensors is gone in Keras 3)
# source: ageron/handson-ml3#172 (book example: latent loss on the functional outputs raises in Keras 3), suinleelab/deepprofile-study#2 (same with K.sum / K.exp)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Sampling(keras.layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        return mean + tf.exp(log_var / 2) * tf.random.normal(tf.shape(log_var))


def build(features=12, codings=3):
    inputs = keras.layers.Input((features,))
    hidden = keras.layers.Dense(16, activation="relu")(inputs)
    mean = keras.layers.Dense(codings)(hidden)
    log_var = keras.layers.Dense(codings)(hidden)
    outputs = keras.layers.Dense(features)(Sampling()([mean, log_var]))
    vae = keras.Model(inputs, outputs)
    latent_loss = -0.5 * tf.reduce_sum(1 + log_var - tf.exp(log_var) - tf.square(mean), axis=-1)
    vae.add_loss(tf.reduce_mean(latent_loss) / features)
    return vae


vae = build()
vae.compile(loss="mse", optimizer="nadam")
x = np.random.default_rng(0).normal(size=(32, 12)).astype("float32")
vae.fit(x, x, epochs=1, verbose=0)
