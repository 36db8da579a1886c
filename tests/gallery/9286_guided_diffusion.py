# case: guided_diffusion_self_conditioning
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the first of two passes is stopped, labels are dropped at random, sampling swaps in averaged weights and puts the trained ones back
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from contextlib import contextmanager
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(29)
DIM, CLASSES, STEPS = 2, 3, 40
HP = {"batch": 128, "updates": 500, "lr": 2e-3, "ema": 0.98, "label_drop": 0.15, "self_cond": 0.5, "guidance": 0.2}
CENTRES = np.array([[1.2, 0.0], [-0.7, 1.0], [-0.7, -1.0]], "float32")

# cosine schedule of Nichol and Dhariwal
_t = (np.arange(STEPS + 1) / STEPS + 0.008) / 1.008
_f = np.cos(_t * np.pi / 2) ** 2
ALPHA_BAR = np.clip(_f[1:] / _f[0], 1e-3, 0.999).astype("float32")


def batches(seed, n=HP["batch"]):
    rng = np.random.default_rng(seed)
    while True:
        label = rng.integers(0, CLASSES, n)
        x = CENTRES[label] + 0.2 * rng.normal(size=(n, DIM))
        yield tf.constant(x, tf.float32), tf.one_hot(label, CLASSES)


def time_features(t):
    angle = tf.cast(t, tf.float32)[:, None] / STEPS * np.pi * np.array([1.0, 2.0, 4.0, 8.0], "float32")
    return tf.concat([tf.sin(angle), tf.cos(angle)], axis=1)


def make_net():
    x, prior_x0 = keras.Input((DIM,)), keras.Input((DIM,))
    time, label = keras.Input((8,)), keras.Input((CLASSES,))
    h = layers.Concatenate()([x, prior_x0, time, label])
    h = layers.Dense(64, activation="swish", name="mlp_1")(h)
    h = h + layers.Dense(64, activation="swish", name="mlp_2")(h)
    return keras.Model([x, prior_x0, time, label], layers.Dense(DIM, name="noise")(h), name="denoiser")


class Diffusion:
    def __init__(self):
        self.net = make_net()
        self.optimizer = keras.optimizers.Adam(HP["lr"], global_clipnorm=1.0)
        self.averages = [tf.Variable(w.value, trainable=False) for w in self.net.trainable_variables]

    def noise(self, x_t, prior_x0, t, label, training=False):
        return self.net([x_t, prior_x0, time_features(t), label], training=training)

    @staticmethod
    def to_x0(x_t, eps, a):
        return tf.clip_by_value((x_t - tf.sqrt(1.0 - a) * eps) / tf.sqrt(a), -2.5, 2.5)

    def loss(self, x0, label, training):
        n = tf.shape(x0)[0]
        t = tf.random.uniform((n,), 0, STEPS, tf.int32)
        a = tf.gather(ALPHA_BAR, t)[:, None]
        eps = tf.random.normal(tf.shape(x0))
        x_t = tf.sqrt(a) * x0 + tf.sqrt(1.0 - a) * eps
        if training:
            label = label * tf.cast(tf.random.uniform((n, 1)) > HP["label_drop"], tf.float32)
        # half of the rows see the model's own guess, which is given and not learned through
        guess = self.to_x0(x_t, self.noise(x_t, tf.zeros_like(x_t), t, label, training), a)
        use = tf.cast(tf.random.uniform((n, 1)) < HP["self_cond"], tf.float32)
        prior_x0 = tf.stop_gradient(use * guess)
        return tf.reduce_mean((self.noise(x_t, prior_x0, t, label, training) - eps) ** 2)

    @tf.function
    def update(self, x0, label):
        with tf.GradientTape() as tape:
            loss = self.loss(x0, label, training=True)
        weights = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        for average, w in zip(self.averages, weights):
            average.assign(HP["ema"] * average + (1.0 - HP["ema"]) * w)
        return loss

    @contextmanager
    def averaged_weights(self):
        kept = [w.numpy() for w in self.net.trainable_variables]
        for w, average in zip(self.net.trainable_variables, self.averages):
            w.assign(average)
        yield
        for w, value in zip(self.net.trainable_variables, kept):
            w.assign(value)

    def sample(self, label, seed):
        """Deterministic sampler with classifier-free guidance."""
        x, x0 = tf.random.stateless_normal((len(label), DIM), (seed, 0)), tf.zeros((len(label), DIM))
        for t in reversed(range(STEPS)):
            a, a_next = ALPHA_BAR[t], ALPHA_BAR[t - 1] if t else 1.0
            steps = tf.fill((len(label),), t)
            with_label = self.noise(x, x0, steps, label)
            without = self.noise(x, x0, steps, tf.zeros_like(label))
            eps = with_label + HP["guidance"] * (with_label - without)
            x0 = self.to_x0(x, eps, a)
            eps = (x - np.sqrt(a) * x0) / np.sqrt(1.0 - a)
            x = np.sqrt(a_next) * x0 + np.sqrt(1.0 - a_next) * eps
        return x.numpy()


model, data = Diffusion(), batches(0)
losses = []
for i in range(HP["updates"]):
    losses.append(float(model.update(*next(data))))
    if i % 250 == 249:
        label = np.repeat(np.arange(CLASSES), 40)
        with model.averaged_weights():
            drawn = model.sample(tf.one_hot(label, CLASSES), seed=i)
        miss = np.linalg.norm(drawn - CENTRES[label], axis=1)
        print("update %3d  loss %.3f  distance from the centre of the class %.3f" % (i + 1, np.mean(losses[-50:]), miss.mean()))
assert np.mean(losses[-50:]) < 0.6 * np.mean(losses[:20])
assert miss.mean() < 0.5
