# case: linear_probe_trained_alongside
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a linear probe on detached features, updated in the same step as the representation
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(42)


class Representation(keras.Model):
    """Learns features without labels; a probe tells during training how good they are."""

    def __init__(self, width, classes):
        super().__init__()
        self.backbone = keras.Sequential(
            [layers.Input((width,)), layers.Dense(32, activation="gelu"), layers.Dense(10)], name="backbone")
        self.projector = keras.Sequential([layers.Input((10,)), layers.Dense(8)], name="projector")
        self.probe = keras.Sequential([layers.Input((10,)), layers.Dense(classes)], name="probe")
        self.accuracy = keras.metrics.SparseCategoricalAccuracy(name="probe_accuracy")

    def call(self, x, training=False):
        return self.probe(self.backbone(x, training=training), training=training)

    def contrast(self, a, b, temperature=0.2):
        a, b = tf.math.l2_normalize(a, -1), tf.math.l2_normalize(b, -1)
        similarity = tf.matmul(a, b, transpose_b=True) / temperature
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(tf.shape(a)[0]), similarity))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            features = self.backbone(x + 0.1 * tf.random.normal(tf.shape(x)), training=True)
            other = self.backbone(x + 0.1 * tf.random.normal(tf.shape(x)), training=True)
            contrast = self.contrast(self.projector(features, training=True), self.projector(other, training=True))
            logits = self.probe(tf.stop_gradient(features), training=True)
            probe_loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
            decay = tf.add_n([tf.nn.l2_loss(v) for v in self.trainable_variables])
            loss = contrast + probe_loss + 1e-4 * decay
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.accuracy.update_state(y, logits)
        return {"contrast": contrast, "probe": probe_loss, "probe_accuracy": self.accuracy.result()}


rng = np.random.default_rng(42)
labels = rng.integers(0, 4, size=192)
x = (rng.normal(size=(4, 9))[labels] * 2 + rng.normal(size=(192, 9))).astype("float32")
model = Representation(9, 4)
model.compile(optimizer=keras.optimizers.Adam(5e-3))
history = model.fit(x, labels, epochs=5, batch_size=48, verbose=0).history
print({name: [round(float(v), 3) for v in values] for name, values in history.items()})
assert history["probe"][-1] < history["probe"][0] and history["contrast"][-1] < history["contrast"][0]
