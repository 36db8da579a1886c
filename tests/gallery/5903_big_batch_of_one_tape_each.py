# case: accumulated_loss_trainer
# verdict: bug
# cause: accumulation-loss-carried-over | outside-tape
# expect_line: 50 52 54 57 58 69 85 92
# expect_variables: -
# symptom_today: an update of a window of four micro-batches is a quarter of the gradient of the last micro-batch; the other three teach nothing
# exit: 0
# fix: take the gradient of each micro-batch from its own tape and add up the gradients, not the losses
# source: GitHub tensorflow 55478, a user sums losses over micro-batches as one does in PyTorch instead of gradients, to save memory, and the loss hardly falls
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(554)


def wind_farm(n):
    """Power from weather readings, all standardised."""
    g = np.random.default_rng(1)
    weather = g.normal(0, 1, (n, 10)).astype("float32")
    w = g.normal(0, 0.5, (10, 1))
    power = np.tanh(weather @ w) + 0.3 * weather[:, :1] + g.normal(0, 0.05, (n, 1))
    return weather, power.astype("float32")


def make_regressor():
    return keras.Sequential(
        [
            keras.Input((10,)),
            layers.Dense(32, activation="relu", name="hidden_a"),
            layers.Dense(32, activation="relu", name="hidden_b"),
            layers.Dense(1, name="power"),
        ],
        name="regressor",
    )


class BigBatchTrainer:
    """Acts as if the batch were `window` times as large as fits into memory."""

    def __init__(self, model, optimizer, window):
        self.model = model
        self.optimizer = optimizer
        self.window = window
        self.criterion = keras.losses.MeanSquaredError()
        self.history = []

    def step(self, micro_batches):
        params = self.model.trainable_variables
        accumulated = tf.constant(0.0)
        for xb, yb in micro_batches:
            with tf.GradientTape() as tape:
                prediction = self.model(xb, training=True)
                loss = self.criterion(yb, prediction)
                accumulated = accumulated + loss / self.window
        gradients = tape.gradient(accumulated, params)
        self.optimizer.apply_gradients(zip(gradients, params))
        self.history.append(float(accumulated))
        return gradients

    def fit(self, dataset, epochs):
        for _ in range(epochs):
            pending = []
            for batch in dataset:
                pending.append(batch)
                if len(pending) == self.window:
                    self.step(pending)
                    pending = []


def gradient_of(model, batch):
    xb, yb = batch
    with tf.GradientTape() as tape:
        loss = keras.losses.MeanSquaredError()(yb, model(xb, training=True))
    return tape.gradient(loss, model.trainable_variables)


x, y = wind_farm(1024)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024, seed=2).batch(16, drop_remainder=True)

model = make_regressor()
trainer = BigBatchTrainer(model, keras.optimizers.SGD(0.1), window=4)
trainer.fit(data, epochs=8)
print("window loss:", np.round(trainer.history[::16], 4))

# what did a window really teach?
window = list(data.take(4))
each = [gradient_of(model, b) for b in window]
wanted = [tf.add_n(list(g)) / 4.0 for g in zip(*each)]
got = trainer.step(window)
for g, last, full in zip(got, each[-1], wanted):
    np.testing.assert_allclose(g, last / 4.0, rtol=1e-3, atol=1e-6)
assert any(not np.allclose(g, f, rtol=0.05, atol=1e-4) for g, f in zip(got, wanted))
