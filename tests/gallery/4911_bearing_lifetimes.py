# case: bearing_lifetimes
# verdict: bug
# cause: nan-where
# expect_line: 58 59
# expect_variables: -
# symptom_today: the likelihood gets better for some dozen steps and then everything is NaN from one step to the next
# exit: 0
# fix: give the survival branch a harmless z where the unit is not censored (double where)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(123)

CONFIG = {"units": 500, "batch": 100, "epochs": 60, "lr": 5e-3, "long_lived": 0.012}


def test_bench(seed):
    """Bearings under load: log lifetimes, some taken off the bench before they failed."""
    rng = np.random.default_rng(seed)
    n = CONFIG["units"]
    x = rng.normal(size=(n, 3)).astype("float32")
    life = 0.5 - 0.6 * x[:, 0] + 0.3 * np.tanh(2 * x[:, 1]) + 0.25 * rng.normal(size=n)
    stop = life.mean() + 0.9 + 0.3 * rng.normal(size=n)
    censored = life > stop
    observed = np.minimum(life, stop)
    # a handful were overhauled and lasted far longer than their load says
    veterans = rng.choice(np.flatnonzero(~censored), int(n * CONFIG["long_lived"]), replace=False)
    observed[veterans] += 3.5
    table = np.stack([observed, censored], axis=1).astype("float32")
    return x, table


class LogNormalAFT(keras.Model):
    """Accelerated failure time: location by a network, one common scale."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.trunk = layers.Dense(16, activation="tanh", name="trunk")
        self.location = layers.Dense(1, name="location")
        self.log_scale = self.add_weight(shape=(), initializer="zeros", name="log_scale")

    def call(self, x):
        return self.location(self.trunk(x))[:, 0]


def normal_cdf(z):
    return 0.5 * (1.0 + tf.math.erf(z / math.sqrt(2.0)))


def log_likelihood(log_time, censored, location, log_scale):
    z = (log_time - location) * tf.exp(-log_scale)
    log_density = -0.5 * tf.square(z) - log_scale - 0.5 * math.log(2.0 * math.pi)
    log_survival = tf.math.log(1.0 - normal_cdf(z))
    return tf.where(censored > 0.5, log_survival, log_density)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = keras.optimizers.Adam(lr)
        self.history = []

    @tf.function
    def step(self, x, table):
        with tf.GradientTape() as tape:
            ll = log_likelihood(table[:, 0], table[:, 1], self.model(x, training=True), self.model.log_scale)
            loss = -tf.reduce_mean(ll)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss, tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in grads])

    def fit(self, ds, epochs):
        for epoch in range(epochs):
            rows = [tuple(float(v) for v in self.step(x, table)) for x, table in ds]
            self.history += rows
            if epoch % 10 == 0 or epoch == epochs - 1:
                print(f"epoch {epoch:2d}  -log L {np.mean([r[0] for r in rows]):.4f}  scale {math.exp(self.model.log_scale.numpy()):.3f}")


x, table = test_bench(seed=8)
print(f"{int(table[:, 1].sum())} of {len(x)} units are censored")
model = LogNormalAFT(name="aft")
model(x[:1])
trainer = Trainer(model, CONFIG["lr"])
trainer.fit(tf.data.Dataset.from_tensor_slices((x, table)).shuffle(500, seed=3).batch(CONFIG["batch"]), CONFIG["epochs"])

loss, finite = np.array(trainer.history).T
first = int(np.argmin(finite))
print(f"step {first}: loss {loss[first]:.4f}, first gradient that is not finite")
assert first > 10 and finite[:first].all() and np.isfinite(loss[first])
assert np.isnan(loss[-1]) and np.isnan(model.log_scale.numpy())
