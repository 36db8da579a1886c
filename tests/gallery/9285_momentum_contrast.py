# case: momentum_contrast_with_queue
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; keys come from an averaged encoder without gradient, the negatives are rows of a queue variable that is overwritten in each step
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(27)
DIM, FACTORS, EMBED, BATCH, QUEUE = 24, 6, 12, 64, 256


def make_windows(n, seed):
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(42).normal(size=(FACTORS, DIM)) / np.sqrt(FACTORS)
    return (rng.normal(size=(n, FACTORS)) @ mixing).astype("float32")


def two_views(x):
    def view():
        keep = tf.cast(tf.random.uniform(tf.shape(x)) > 0.25, x.dtype)
        return x * keep + 0.2 * tf.random.normal(tf.shape(x))

    return view(), view()


def make_encoder(name):
    return keras.Sequential(
        [
            keras.Input((DIM,)),
            layers.Dense(48, activation="gelu", name=name + "_1"),
            layers.Dense(24, activation="gelu", name=name + "_2"),
            layers.Dense(EMBED, name=name + "_out"),
            layers.UnitNormalization(name=name + "_unit"),
        ],
        name=name,
    )


class MoCo(keras.Model):
    def __init__(self, momentum=0.95, temperature=0.2):
        super().__init__(name="moco")
        self.momentum, self.temperature = momentum, temperature
        self.query_encoder, self.key_encoder = make_encoder("query"), make_encoder("key")
        self.key_encoder.set_weights(self.query_encoder.get_weights())
        self.key_encoder.trainable = False
        self.queue = self.add_weight(
            shape=(QUEUE, EMBED), initializer=keras.initializers.RandomNormal(seed=3), trainable=False, name="queue"
        )
        self.queue.assign(tf.math.l2_normalize(self.queue, axis=1))
        self.slot = self.add_weight(shape=(), initializer="zeros", dtype="int32", trainable=False, name="slot")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.hit = keras.metrics.Mean(name="hit")

    @property
    def metrics(self):
        return [self.loss_tracker, self.hit]

    def call(self, x, training=False):
        return self.query_encoder(x, training=training)

    def logits(self, query, key):
        positive = tf.reduce_sum(query * key, axis=1, keepdims=True)
        negative = tf.matmul(query, self.queue, transpose_b=True)
        return tf.concat([positive, negative], axis=1) / self.temperature

    def enqueue(self, key):
        rows = (self.slot + tf.range(tf.shape(key)[0])) % QUEUE
        self.queue.assign(tf.tensor_scatter_nd_update(self.queue, rows[:, None], key))
        self.slot.assign((self.slot + tf.shape(key)[0]) % QUEUE)

    def train_step(self, x):
        view_q, view_k = two_views(x)
        key = self.key_encoder(view_k)
        first = tf.zeros(tf.shape(x)[0], tf.int32)
        with tf.GradientTape() as tape:
            logits = self.logits(self.query_encoder(view_q, training=True), key)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(first, logits))
        weights = self.query_encoder.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        for slow, fast in zip(self.key_encoder.weights, self.query_encoder.weights):
            slow.assign(self.momentum * slow + (1.0 - self.momentum) * fast)
        self.enqueue(key)
        self.loss_tracker.update_state(loss)
        self.hit.update_state(tf.cast(tf.argmax(logits, axis=1, output_type=tf.int32) == first, tf.float32))
        return {m.name: m.result() for m in self.metrics}


def retrieval(model, x):
    """How often the nearest embedding of another view is the one of the same window."""
    a, b = (model(v).numpy() for v in two_views(tf.constant(x)))
    return float(((a @ b.T).argmax(axis=1) == np.arange(len(x))).mean())


train, held_out = make_windows(768, seed=1), make_windows(128, seed=2)
model = MoCo()
model(train[:2])
model.compile(optimizer=keras.optimizers.Adam(3e-3))
found = retrieval(model, held_out)
queue_before, key_before = model.queue.numpy().copy(), model.key_encoder.get_weights()[0]
history = model.fit(train, batch_size=BATCH, epochs=14, verbose=0).history
print("loss", [round(v, 3) for v in history["loss"][::3]], " hit", [round(v, 2) for v in history["hit"][::3]])
print("partner found: %.2f -> %.2f" % (found, retrieval(model, held_out)))
assert history["hit"][-1] > history["hit"][0] + 0.1
assert retrieval(model, held_out) > found + 0.1
assert np.abs(model.queue.numpy() - queue_before).max(axis=1).min() > 0
assert np.abs(model.key_encoder.get_weights()[0] - key_before).max() > 1e-2
assert np.allclose(np.linalg.norm(model.queue.numpy(), axis=1), 1.0, atol=1e-3)
