# case: categorical_autoencoder_with_annealed_gumbel
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (Jang et al. pattern)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)


class GumbelVae(keras.Model):
    def __init__(self, n_cat=4, n_class=3, dim=8):
        super().__init__()
        self.n_cat, self.n_class = n_cat, n_class
        self.encoder = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(n_cat * n_class)])
        self.decoder = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(dim)])
        self.tau = self.add_weight(shape=(), initializer=keras.initializers.Constant(2.0), trainable=False, name="tau")
        self.tracker = keras.metrics.Mean("loss")

    def call(self, x, training=False):
        logits = tf.reshape(self.encoder(x), (-1, self.n_cat, self.n_class))
        if training:
            noise = -tf.math.log(-tf.math.log(tf.random.uniform(tf.shape(logits), 1e-6, 1 - 1e-6)))
            soft = tf.nn.softmax((logits + noise) / self.tau)
        else:
            soft = tf.one_hot(tf.argmax(logits, -1), self.n_class)
        return self.decoder(tf.reshape(soft, (-1, self.n_cat * self.n_class))), logits

    def train_step(self, x):
        with tf.GradientTape() as tape:
            out, logits = self(x, training=True)
            log_q = tf.nn.log_softmax(logits)
            kl = tf.reduce_sum(tf.exp(log_q) * (log_q + np.log(self.n_class)), axis=(1, 2))
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(out - x), -1) + 0.05 * kl)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


class Cool(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.tau.assign(tf.maximum(0.5, 2.0 * 0.8 ** (epoch + 1)))


rng = np.random.default_rng(0)
x = np.eye(8, dtype="float32")[rng.integers(0, 8, 256)]
model = GumbelVae()
model.compile(keras.optimizers.Adam(5e-3))
log = model.fit(x, epochs=8, verbose=0, callbacks=[Cool()]).history["loss"]
print(log[0], log[-1])
assert log[-1] < log[0]
