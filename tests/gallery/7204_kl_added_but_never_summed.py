# case: kl_added_but_never_summed
# verdict: bug; static: no
# cause: missing-loss-term
# expect_line: 38 39
# expect_variables: reparameterise.add_loss (no KL pressure on encoder/*: trained as a plain autoencoder)
# symptom_today: silent: model.losses holds the KL term, the train_step ignores it
# exit: 0
# fix: loss = rec + sum(self.losses), or self.compute_loss(...)
# source: tensorflow/tensorflow#32127 (add_loss and a custom training loop), keras-team/keras#19430 (self.losses must be added in an own compute_loss), hunglc007/tensorflow-yolov4-tflite#369
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Reparameterise(keras.layers.Layer):
    def call(self, mean, log_var):
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1.0 + log_var - tf.square(mean) - tf.exp(log_var), axis=1))
        self.add_loss(kl)
        return mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))


class VAE(keras.Model):
    def __init__(self, latent=3):
        super().__init__()
        self.mean, self.log_var = keras.layers.Dense(latent), keras.layers.Dense(latent)
        self.sample = Reparameterise()
        self.decoder = keras.layers.Dense(9)

    def call(self, x):
        return self.decoder(self.sample(self.mean(x), self.log_var(x)))

    def train_step(self, data):
        x, _ = data
        with tf.GradientTape() as tape:
            reconstruction = self(x, training=True)
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(x - reconstruction), axis=1))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"rec": loss, "kl": tf.add_n(self.losses)}


x = np.random.default_rng(0).normal(size=(80, 9)).astype("float32")
vae = VAE()
vae.compile(keras.optimizers.Adam(2e-2))
log = vae.fit(x, x, batch_size=20, epochs=10, verbose=0).history
print("rec", log["rec"][0], "->", log["rec"][-1], " kl", log["kl"][0], "->", log["kl"][-1])
assert log["kl"][-1] > 1.0
