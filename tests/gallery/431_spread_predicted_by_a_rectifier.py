# case: spread_predicted_by_a_rectifier
# verdict: bug; static: no
# cause: nan-log | nan-division
# expect_line: 29 35
# expect_variables: sigma/*, dense/* (and everything below)
# symptom_today: silent: log(0) and division by a zero spread make the loss infinite or NaN
# exit: 0
# fix: softplus(...) + 1e-3 for the spread
# seen: networks that predict a mean and a standard deviation
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


class Density(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(16, activation="tanh")
        self.mu = keras.layers.Dense(1, name="mu")
        self.sigma = keras.layers.Dense(1, activation="relu", name="sigma")

    def call(self, x):
        h = self.hidden(x)
        return self.mu(h), self.sigma(h)

    def nll(self, y, mu, sigma):
        return tf.reduce_mean(tf.math.log(sigma) + (y - mu) ** 2 / (2.0 * sigma**2))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            mu, sigma = self(x, training=True)
            loss = self.nll(y, mu, sigma)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


model = Density()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
x = np.random.default_rng(1).normal(size=(64, 2)).astype("float32")
model.fit(x, x[:, :1], epochs=2, verbose=0)
assert np.isnan(model.mu.get_weights()[0]).any()
