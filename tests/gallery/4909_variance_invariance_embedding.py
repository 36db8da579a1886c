# case: variance_invariance_embedding
# verdict: bug
# cause: nan-std
# expect_line: 58
# expect_variables: embedding/*
# symptom_today: fine for a number of steps, then the loss is NaN; the last finite loss looks ordinary
# exit: 0
# fix: tf.sqrt(tf.math.reduce_variance(z, axis=0) + 1e-4), as in the paper
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(2)

WEIGHTS = {"agreement": 4.0, "spread": 2.0, "covariance": 0.5}


def spectra(n, seed, bands=24):
    """Spectra as sums of a few bumps, one row for each sample."""
    rng = np.random.default_rng(seed)
    axis = np.linspace(0, 1, bands)
    place = rng.uniform(0, 1, (n, 3, 1))
    height = rng.uniform(0.3, 1.0, (n, 3, 1))
    return (height * np.exp(-(((axis - place) / 0.08) ** 2))).sum(1).astype("float32")


class Augment:
    """Change gain and blank one band; a few views are left as they are."""

    def __init__(self, seed, chance=0.985):
        self.rng = tf.random.Generator.from_seed(seed)
        self.chance = chance

    def __call__(self, x):
        n, bands = tf.shape(x)[0], x.shape[1]
        blank = tf.one_hot(self.rng.uniform((n,), 0, bands, tf.int32), bands)
        changed = x * (1.0 - blank) * self.rng.uniform((n, 1), 0.7, 1.3)
        return tf.where(self.rng.uniform((n, 1)) < self.chance, changed, x)


def off_diagonal_energy(z):
    centred = z - tf.reduce_mean(z, axis=0)
    cov = tf.matmul(centred, centred, transpose_a=True) / tf.cast(tf.shape(z)[0] - 1, z.dtype)
    return tf.reduce_sum(tf.linalg.set_diag(cov, tf.zeros(tf.shape(cov)[0])) ** 2) / tf.cast(tf.shape(z)[1], z.dtype)


def spread_hinge(z, least=1.0):
    """Each coordinate should vary over the batch by at least `least`."""
    std = tf.sqrt(tf.math.reduce_variance(z, axis=0) + 1e-4)
    return tf.reduce_mean(tf.nn.relu(least - std))


def disagreement(views):
    """How far the views of one spectrum are apart, in units of the embedding."""
    return tf.reduce_mean(tf.math.reduce_std(views, axis=0))


def embedding_loss(views):
    terms = {
        "agreement": disagreement(views),
        "spread": spread_hinge(views[0]) + spread_hinge(views[1]),
        "covariance": off_diagonal_energy(views[0]) + off_diagonal_energy(views[1]),
    }
    return sum(WEIGHTS[k] * v for k, v in terms.items()), terms


class Embedding(keras.Model):
    def __init__(self, size, **kwargs):
        super().__init__(**kwargs)
        self.hidden1 = layers.Dense(64, activation="gelu", name="hidden1")
        self.hidden2 = layers.Dense(64, activation="gelu", name="hidden2")
        self.code = layers.Dense(size, name="code")

    def call(self, x):
        return self.code(self.hidden2(self.hidden1(x)))


model = Embedding(8, name="embedding")
optimizer = keras.optimizers.Adam(2e-3, clipnorm=10.0)
augment = Augment(seed=11)
model(tf.zeros((1, 24)))


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        views = tf.stack([model(augment(x)) for _ in range(2)])
        loss, terms = embedding_loss(views)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, terms


data = tf.data.Dataset.from_tensor_slices(spectra(2048, seed=5)).shuffle(2048, seed=6).repeat().batch(64)
curve = []
for step, x in enumerate(data.take(600)):
    loss, terms = train_step(x)
    curve.append(float(loss))
    if step % 15 == 0 or not np.isfinite(curve[-1]):
        parts = "  ".join(f"{k} {float(v):.4f}" for k, v in terms.items())
        print(f"step {step:3d}  loss {curve[-1]:8.4f}  {parts}")
    if not np.isfinite(curve[-1]):
        break

assert np.isnan(curve[-1]) and len(curve) > 15 and np.isfinite(curve[:-1]).all()
assert curve[-2] < curve[0], "it was getting better"
assert all(np.isnan(v.numpy()).any() for v in model.trainable_variables)

# one pair of views that are equal is enough
with tf.GradientTape() as tape:
    views = tf.constant([[[0.5], [1.0]], [[0.5], [2.0]]])
    tape.watch(views)
    far = disagreement(views)
slope = tape.gradient(far, views).numpy()[:, :, 0]
assert np.isfinite(float(far)) and np.isnan(slope[:, 0]).all() and np.isfinite(slope[:, 1]).all()
