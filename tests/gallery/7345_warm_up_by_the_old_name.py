# case: warmup_old_lr_name
# verdict: bug
# cause: keras3-api-change
# expect_line: 28 31
# expect_variables: -
# symptom_today: the warm-up prints rising rates, but the loss does not move: the optimizer keeps 1e-7
# exit: 0
# fix: self.model.optimizer.learning_rate = rate (Keras 3 has no alias `lr`, the line only makes a new attribute)
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(33)


class LinearWarmup(keras.callbacks.Callback):
    """Raise the rate in a straight line over the first batches, then leave it."""

    def __init__(self, peak, warmup_batches):
        super().__init__()
        self.peak = peak
        self.warmup_batches = warmup_batches
        self.seen = 0

    def on_train_batch_begin(self, batch, logs=None):
        self.seen += 1
        rate = self.peak * min(1.0, self.seen / self.warmup_batches)
        self.model.optimizer.lr = rate

    def on_epoch_end(self, epoch, logs=None):
        rate = float(self.model.optimizer.lr)
        print(f"epoch {epoch:2d}  rate {rate:.5f}  loss {logs['loss']:.4f}  accuracy {logs['accuracy']:.3f}")


def two_rings(n):
    rng = np.random.default_rng(12)
    inner = rng.random(n) < 0.5
    radius = np.where(inner, 0.6, 1.5) + rng.normal(0, 0.12, n)
    angle = rng.uniform(0, 2 * np.pi, n)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype("float32"), inner.astype("float32")[:, None]


points, inner = two_rings(320)
model = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(24, activation="tanh", name="first"),
        layers.Dense(24, activation="tanh", name="second"),
        layers.Dense(1, activation="sigmoid", name="is_inner"),
    ]
)
# start next to nothing, the callback takes over from here
model.compile(optimizer=keras.optimizers.Adam(1e-7), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(points, inner, batch_size=32, epochs=12, verbose=0, callbacks=[LinearWarmup(1e-2, 20)])
