# case: sam_fit
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; sharpness-aware minimisation climbs, takes the gradient there, puts the weights back and only then descends
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers, regularizers

keras.utils.set_random_seed(81)


def crosses_and_rings(n, seed, size=10):
    """Small pictures of a cross, a ring, or a filled square at a random place."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n)
    r0, c0 = rng.integers(3, size - 3, (2, n, 1, 1))
    r, c = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    dr, dc = np.abs(r - r0), np.abs(c - c0)
    far = np.maximum(dr, dc)
    shapes = np.stack([(far <= 2) & ((dr == 0) | (dc == 0)), far == 2, far <= 1], axis=1)
    image = shapes[np.arange(n), label] + 0.25 * rng.normal(size=(n, size, size))
    return image[..., None].astype("float32"), label.astype("int32")


class SAMModel(keras.Model):
    def __init__(self, rho=0.05, **kwargs):
        super().__init__(**kwargs)
        self.rho = rho
        decay = regularizers.L2(1e-4)
        self.conv1 = layers.Conv2D(8, 3, padding="same", activation="relu", kernel_regularizer=decay, name="conv1")
        self.conv2 = layers.Conv2D(16, 3, padding="same", activation="relu", kernel_regularizer=decay, name="conv2")
        self.pool = layers.MaxPooling2D(2)
        self.merge = layers.GlobalMaxPooling2D()
        self.logits = layers.Dense(3, name="logits")

    def call(self, x, training=None):
        h = self.pool(self.conv1(x))
        return self.logits(self.merge(self.conv2(h)))

    def gradient_here(self, x, y):
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=logits)  # with the regularisers
        return loss, logits, tape.gradient(loss, self.trainable_variables)

    def train_step(self, data):
        x, y = data
        variables = self.trainable_variables
        loss, logits, ascent = self.gradient_here(x, y)
        norm = tf.linalg.global_norm(ascent) + 1e-12
        home = [tf.identity(v) for v in variables]
        for v, g in zip(variables, ascent):
            v.assign_add(self.rho * g / norm)
        _, _, grads = self.gradient_here(x, y)
        for v, h in zip(variables, home):
            v.assign(h)
        self.optimizer.apply_gradients(zip(grads, variables))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


x, y = crosses_and_rings(512, seed=1)
x_val, y_val = crosses_and_rings(256, seed=2)
model = SAMModel(name="sam")
model.compile(
    optimizer=keras.optimizers.SGD(0.1, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
)
model(x[:1])
start = [v.numpy() for v in model.trainable_variables]
history = model.fit(x, y, batch_size=32, epochs=5, validation_data=(x_val, y_val), verbose=0).history
for key in ("loss", "acc", "val_acc"):
    print(f"{key:8s}", np.round(history[key], 3))
assert history["loss"][-1] < 0.4 * history["loss"][0] and history["val_acc"][-1] > 0.85
assert all(not np.allclose(s, v.numpy()) for s, v in zip(start, model.trainable_variables))
