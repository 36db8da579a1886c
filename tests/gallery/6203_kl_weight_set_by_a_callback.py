# case: kl_weight_set_by_a_callback
# verdict: bug; static: no
# cause: python-state-in-graph
# expect_line: 35 43
# expect_variables: - (the Python number self.beta: the KL term keeps the weight it had at trace time, 0)
# symptom_today: silent: the annealed weight is 0 in every epoch
# exit: 0
# fix: keep beta in a keras.Variable (trainable=False) and assign to it in the callback
# source: keras-team/keras#13826 (KL annealing: the weight starts at 0.0 and the whole training is done with that value), alexeyev/Keras-Generating-Sentences-from-a-Continuous-Space#1
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class VAE(keras.Model):
    def __init__(self, latent=2):
        super().__init__()
        self.encoder = keras.layers.Dense(2 * latent, name="encoder")
        self.decoder = keras.layers.Dense(8, name="decoder")
        self.beta = 0.0

    def call(self, x):
        mean, log_var = tf.split(self.encoder(x), 2, axis=-1)
        return self.decoder(mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean)))

    def train_step(self, x):
        x = x[0] if isinstance(x, tuple) else x
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encoder(x), 2, axis=-1)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            rec = tf.reduce_mean(tf.square(self.decoder(z) - x))
            kl = -0.5 * tf.reduce_mean(1.0 + log_var - tf.square(mean) - tf.exp(log_var))
            loss = rec + self.beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"rec": rec, "kl": kl, "share_of_kl": loss - rec}


class Anneal(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta = min(1.0, epoch / 4)


x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
vae = VAE()
vae(x[:1])
vae.compile(keras.optimizers.Adam(1e-2))
log = vae.fit(x, batch_size=16, epochs=6, verbose=0, callbacks=[Anneal()]).history
print("beta as Python sees it:", vae.beta, "KL part of the loss:", log["share_of_kl"])
assert vae.beta == 1.0 and max(log["share_of_kl"]) == 0.0
