# case: realnvp_data_dependent_init
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; masks and permutations are not trained, scale and shift are written once from the first batch before training, the last layer of each coupling starts at zero
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)
DIM = 4


def make_moons_4d(n=1024, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, np.pi, n)
    side = rng.integers(0, 2, n) * 2 - 1
    a = np.stack([side * np.cos(t) + 0.5 * side, side * np.sin(t)], axis=1)
    b = 0.5 * a ** 2 + 0.2 * rng.normal(size=a.shape)
    x = np.concatenate([a + 0.08 * rng.normal(size=a.shape), b], axis=1)
    return ((x - x.mean(0)) / x.std(0) * np.array([1.0, 0.6, 1.3, 0.9]) + 0.4).astype("float32")


class ActNorm(layers.Layer):
    def build(self, input_shape):
        self.log_scale = self.add_weight(shape=(DIM,), initializer="zeros", name="log_scale")
        self.shift = self.add_weight(shape=(DIM,), initializer="zeros", name="shift")

    def set_from(self, x):
        """Zero mean and unit variance on one batch; afterwards these are ordinary weights."""
        log_scale = -tf.math.log(tf.math.reduce_std(x, axis=0) + 1e-6)
        self.log_scale.assign(log_scale)
        self.shift.assign(-tf.reduce_mean(x, axis=0) * tf.exp(log_scale))

    def call(self, x):
        return x * tf.exp(self.log_scale) + self.shift, tf.reduce_sum(self.log_scale)


class Coupling(layers.Layer):
    """Affine coupling; what the mask keeps decides how the rest is moved."""

    def __init__(self, parity, hidden=32, limit=1.5, **kwargs):
        super().__init__(**kwargs)
        self.parity, self.limit = parity, limit
        self.hidden = layers.Dense(hidden, activation="swish", name="hidden")
        self.out = layers.Dense(2 * DIM, kernel_initializer="zeros", name="out")

    def build(self, input_shape):
        mask = (np.arange(DIM) % 2 == self.parity).astype("float32")
        self.mask = self.add_weight(
            shape=(DIM,), initializer=lambda shape, dtype: tf.constant(mask), trainable=False, name="mask"
        )
        self.hidden.build((None, DIM))
        self.out.build((None, self.hidden.units))

    def call(self, x):
        kept = self.mask * x
        log_scale, shift = tf.split(self.out(self.hidden(kept)), 2, axis=1)
        log_scale = (1.0 - self.mask) * self.limit * tf.tanh(log_scale / self.limit)
        moved = kept + (1.0 - self.mask) * (x * tf.exp(log_scale) + shift)
        return moved, tf.reduce_sum(log_scale, axis=1)


class RealNVP(keras.Model):
    def __init__(self, depth=4):
        super().__init__(name="realnvp")
        self.norms = [ActNorm(name=f"actnorm_{i}") for i in range(depth)]
        self.couplings = [Coupling(i % 2, name=f"coupling_{i}") for i in range(depth)]
        self.order = np.random.default_rng(2).permutation(DIM)
        self.nll = keras.metrics.Mean(name="nll")

    @property
    def metrics(self):
        return [self.nll]

    def warm_start(self, x):
        x = tf.constant(x)
        for norm, coupling in zip(self.norms, self.couplings):
            norm.build(x.shape)
            norm.set_from(x)
            x = coupling(norm(x)[0])[0]
            x = tf.gather(x, self.order, axis=1)

    def call(self, x):
        log_det = tf.zeros(tf.shape(x)[0])
        for norm, coupling in zip(self.norms, self.couplings):
            x, d = norm(x)
            log_det += d
            x, d = coupling(x)
            log_det += d
            x = tf.gather(x, self.order, axis=1)
        return -0.5 * tf.reduce_sum(x ** 2 + np.log(2 * np.pi), axis=1) + log_det

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.nll.update_state(loss)
        return {"nll": self.nll.result()}

    def test_step(self, x):
        self.nll.update_state(-self(x, training=False))
        return {"nll": self.nll.result()}


x, x_test = make_moons_4d(), make_moons_4d(256, seed=1)
flow = RealNVP()
flow.warm_start(x[:256])
flow(x[:2])
flow.compile(optimizer=keras.optimizers.Adam(3e-3, clipnorm=5.0))
masks = [c.mask.numpy().copy() for c in flow.couplings]
start = flow.evaluate(x_test, batch_size=128, verbose=0)
history = flow.fit(x, batch_size=64, epochs=12, validation_data=(x_test,), verbose=0).history
print("nll", [round(v, 3) for v in history["nll"][::3]], " held out %.3f -> %.3f" % (start, history["val_nll"][-1]))
assert history["val_nll"][-1] < start - 0.3
assert all((m == c.mask.numpy()).all() for m, c in zip(masks, flow.couplings))
assert all(np.abs(c.out.kernel.numpy()).max() > 0.01 for c in flow.couplings)
