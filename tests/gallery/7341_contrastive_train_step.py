# case: contrastive_train_step
# verdict: bug
# cause: training-flag
# expect_line: 40
# expect_variables: -
# symptom_today: moving statistics of batch normalisation stay where they started (training=True in the call) and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)


class Embedder(keras.Model):
    def __init__(self, dim=8, temperature=0.2):
        super().__init__()
        self.temperature = temperature
        self.net = keras.Sequential([
            layers.Dense(32),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Dropout(0.2),
            layers.Dense(dim),
        ])
        self.tracker = keras.metrics.Mean(name="nce")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x, training=None):
        return tf.math.l2_normalize(self.net(x, training=training), axis=-1, epsilon=1e-6)

    def train_step(self, views):
        a, b = views
        with tf.GradientTape() as tape:
            za, zb = self(a), self(b)
            logits = tf.matmul(za, zb, transpose_b=True) / self.temperature
            labels = tf.range(tf.shape(a)[0])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"nce": self.tracker.result()}


rng = np.random.default_rng(0)
anchor = 5.0 + 3.0 * rng.normal(size=(256, 10)).astype("float32")
other = anchor + 0.3 * rng.normal(size=anchor.shape).astype("float32")

model = Embedder()
model(anchor[:4])
model.compile(optimizer=keras.optimizers.Adam(1e-3))
history = model.fit(anchor, other, epochs=4, batch_size=32, verbose=0)
print("nce", history.history["nce"])
print("moving mean", np.abs(model.net.layers[1].moving_mean.numpy()).max())
