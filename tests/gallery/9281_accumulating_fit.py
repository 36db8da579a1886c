# case: accumulating_fit
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; gradients of four batches are collected by hand inside fit, averaged, applied and cleared
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(85)

VOCAB, LENGTH, TOPICS = 120, 16, 4
MICRO, WINDOW = 16, 4


def tickets(n, seed):
    """Support tickets as word ids; a quarter of the words tell the topic."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, TOPICS, n)
    words = rng.integers(1, VOCAB, (n, LENGTH))
    telling = rng.uniform(size=(n, LENGTH)) < 0.25
    words = np.where(telling, 1 + topic[:, None] * 6 + rng.integers(0, 6, (n, LENGTH)), words)
    length = rng.integers(8, LENGTH + 1, n)
    words[np.arange(LENGTH)[None, :] >= length[:, None]] = 0
    return words.astype("int32"), topic.astype("int32")


class AttentionPool(layers.Layer):
    def build(self, shape):
        self.query = self.add_weight(shape=(shape[-1], 1), initializer="glorot_uniform", name="query")

    def call(self, x, words):
        score = tf.squeeze(tf.matmul(x, self.query), axis=-1)
        score += tf.where(words > 0, 0.0, -1e4)
        return tf.reduce_sum(x * tf.nn.softmax(score, axis=1)[..., None], axis=1)


class TicketModel(keras.Model):
    """Collects the gradients of WINDOW micro-batches and makes one update of their mean."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.embed = layers.Embedding(VOCAB, 16, name="embed")
        self.pool = AttentionPool(name="pool")
        self.drop = layers.Dropout(0.2)
        self.topic = layers.Dense(TOPICS, name="topic")
        self.sums = []
        self.collected = tf.Variable(0, trainable=False, name="collected")

    def call(self, words, training=None):
        return self.topic(self.drop(self.pool(self.embed(words), words), training=training))

    def prepare(self):
        self.sums = [
            tf.Variable(tf.zeros(v.shape), trainable=False, name=f"sum_{k}")
            for k, v in enumerate(self.trainable_variables)
        ]
        self.optimizer.build(self.trainable_variables)

    def update(self):
        grads = [s / WINDOW for s in self.sums]
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.optimizer.apply(grads, self.trainable_variables)
        for s in self.sums:
            s.assign(tf.zeros_like(s))
        self.collected.assign(0)
        return True

    def train_step(self, data):
        words, topic = data
        with tf.GradientTape() as tape:
            logits = self(words, training=True)
            loss = self.compute_loss(x=words, y=topic, y_pred=logits)
        for s, g in zip(self.sums, tape.gradient(loss, self.trainable_variables)):
            s.assign_add(tf.convert_to_tensor(g))
        self.collected.assign_add(1)
        tf.cond(tf.equal(self.collected, WINDOW), self.update, lambda: False)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss, sample_weight=tf.shape(words)[0])
            else:
                metric.update_state(topic, logits)
        return self.get_metrics_result()


x_train, y_train = tickets(768, seed=1)
x_valid, y_valid = tickets(256, seed=2)
model = TicketModel(name="tickets")
model.compile(
    optimizer=keras.optimizers.Adam(2e-2),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model(x_train[:2])
model.prepare()
history = model.fit(x_train, y_train, validation_data=(x_valid, y_valid), batch_size=MICRO, epochs=6, verbose=0).history
for epoch, (loss, accuracy) in enumerate(zip(history["loss"], history["val_accuracy"])):
    print(f"epoch {epoch}  loss {loss:.3f}  val accuracy {accuracy:.3f}")

assert int(model.optimizer.iterations) == 6 * len(x_train) // (MICRO * WINDOW)
assert all(np.all(s.numpy() == 0.0) for s in model.sums) and int(model.collected) == 0
assert history["loss"][-1] < 0.5 * history["loss"][0] and history["val_accuracy"][-1] > 0.8
