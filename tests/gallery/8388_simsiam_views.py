# case: simsiam_views
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: the stop_gradient on one branch of SimSiam is the method itself and
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(26)


def negative_cosine(p, z):
    z = ops.stop_gradient(z)
    p = ops.normalize(p, axis=1)
    z = ops.normalize(z, axis=1)
    return -ops.mean(ops.sum(p * z, axis=1))


class SimSiam(keras.Model):
    def __init__(self, dim=16):
        super().__init__()
        self.encoder = keras.Sequential([layers.Dense(32), layers.BatchNormalization(), layers.ReLU(), layers.Dense(dim)])
        self.predictor = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(dim)])
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x, training=None):
        return self.encoder(x, training=training)

    def train_step(self, data):
        one, two = data
        with tf.GradientTape() as tape:
            z1, z2 = self.encoder(one, training=True), self.encoder(two, training=True)
            p1, p2 = self.predictor(z1, training=True), self.predictor(z2, training=True)
            loss = 0.5 * negative_cosine(p1, z2) + 0.5 * negative_cosine(p2, z1)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


def augment(x, seed):
    rng = np.random.default_rng(seed)
    return (x * rng.uniform(0.8, 1.2, size=(len(x), 1)) + 0.2 * rng.normal(size=x.shape)).astype("float32")


rng = np.random.default_rng(0)
x = (rng.normal(size=(5, 10))[rng.integers(0, 5, 320)] * 2.0).astype("float32")
model = SimSiam()
model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9))
history = model.fit(augment(x, 1), augment(x, 2), epochs=6, batch_size=40, verbose=0)
z = model.predict(x, verbose=0)
print("loss", history.history["loss"])
print("spread of the embedding", float((z / np.linalg.norm(z, axis=1, keepdims=True)).std(axis=0).mean()))
