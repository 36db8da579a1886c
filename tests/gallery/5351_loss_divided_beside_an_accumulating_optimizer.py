# case: keras_accumulation_scaled_loss
# verdict: bug
# cause: accumulation-averaged-twice
# expect_line: 52 67
# expect_variables: -
# symptom_today: fit learns four times slower than with the large batch it stands for; no error
# exit: 0
# fix: differentiate the plain loss; gradient_accumulation_steps of the Keras optimizer averages already
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
EFFECTIVE_BATCH, ACCUM = 64, 4
CLASSES, SIZE = 3, 8


def stripes(n, seed):
    """Small images with horizontal, vertical or diagonal stripes."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, n)
    r, c = np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij")
    axis = np.stack([r, c, r + c])[label]
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    image = np.sin(axis * 1.6 + phase) + 0.3 * rng.normal(size=(n, SIZE, SIZE))
    return image[..., None].astype("float32"), label.astype("int32")


class LowMemoryClassifier(keras.Model):
    """Runs small batches and lets the optimizer move once for `accum` of them."""

    def __init__(self, accum, **kwargs):
        super().__init__(**kwargs)
        self.accum = accum
        self.conv = layers.Conv2D(8, 3, activation="relu", padding="same", name="conv")
        self.pool = layers.MaxPooling2D(2)
        self.flat = layers.Flatten()
        self.hidden = layers.Dense(24, activation="relu", name="hidden")
        self.logits = layers.Dense(CLASSES, name="logits")

    def call(self, x, training=None):
        return self.logits(self.hidden(self.flat(self.pool(self.conv(x)))))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=logits)
            micro_loss = loss / self.accum
        grads = tape.gradient(micro_loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


def build(lr=0.05):
    keras.utils.set_random_seed(21)
    model = LowMemoryClassifier(ACCUM, name="low_memory")
    model.compile(
        optimizer=keras.optimizers.SGD(lr, momentum=0.8, gradient_accumulation_steps=ACCUM),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    model(np.zeros((1, SIZE, SIZE, 1), "float32"))
    return model


x, y = stripes(640, seed=2)
model = build()
history = model.fit(x, y, batch_size=EFFECTIVE_BATCH // ACCUM, epochs=3, verbose=0)
print("loss", np.round(history.history["loss"], 3), "acc", np.round(history.history["acc"], 3))

# one window of four against the gradient of the batch that it stands for
model = build()
xb, yb = x[:EFFECTIVE_BATCH], y[:EFFECTIVE_BATCH]
with tf.GradientTape() as tape:
    loss = model.compute_loss(x=xb, y=yb, y_pred=model(xb, training=True))
right = [g.numpy() for g in tape.gradient(loss, model.trainable_variables)]
before = [v.numpy() for v in model.trainable_variables]
model.fit(xb, yb, batch_size=EFFECTIVE_BATCH // ACCUM, epochs=1, shuffle=False, verbose=0)
for v, old, g in zip(model.trainable_variables, before, right):
    share = np.linalg.norm(old - v.numpy()) / (0.05 * np.linalg.norm(g))
    print(f"{v.path:32s} moved {share:.3f} of lr * gradient")
    assert abs(share - 1 / ACCUM) < 0.02
