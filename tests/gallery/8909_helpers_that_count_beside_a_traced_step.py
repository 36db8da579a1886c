# case: helpers_that_count_beside_a_traced_step
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; objects of the step count in Python what is meant to be counted there, and in a variable what is not
# exit: 0
# fix: -
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import warnings

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(21)


class Tracings:
    """Counts how often Python runs: once for each shape, on purpose."""

    def __init__(self, most=3):
        self.most = most
        self.seen = 0
        self.shapes = []

    def note(self, x):
        self.seen += 1
        self.shapes.append((self.seen, x.shape))
        if self.seen > self.most:
            warnings.warn(f"traced {self.seen} times")
        return self.seen

    @property
    def first(self):
        return self.seen == 1


class Progress:
    """Counts batches and epochs for those who look from outside."""

    def __init__(self):
        self.batches = 0
        self.best = float("inf")

    def tick(self):
        self.batches += 1

    def is_better(self, loss):
        better = loss < self.best
        self.best = min(self.best, loss)
        return better


class Warmup:
    """The constants of a schedule, and the count of steps where a compiled step may count: in a variable."""

    def __init__(self, steps, floor):
        self.steps, self.floor = steps, floor
        self.done = tf.Variable(0, trainable=False, dtype=tf.int64)

    def tick(self):
        self.done.assign_add(1)

    @property
    def weight(self):
        return tf.minimum(1.0, self.floor + tf.cast(self.done, tf.float32) / self.steps)


class Counted(keras.Model):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.tracings, self.progress, self.warmup = Tracings(), Progress(), Warmup(20, 0.1)

    def call(self, x, training=None):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y = data
        number = self.tracings.note(x)
        print(f"tracing number {number} for {x.shape}")
        if self.tracings.first:
            print("the first one")
        self.warmup.tick()
        with tf.GradientTape() as tape:
            loss = self.warmup.weight * tf.reduce_mean(tf.square(self(x, training=True) - y))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.progress.tick()
        return {"loss": loss}


class Watch(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.model.progress.tick()

    def on_epoch_end(self, epoch, logs=None):
        better = self.model.progress.is_better(logs["loss"])
        print(f"epoch {epoch}  batches {self.model.progress.batches}  better {better}")


rng = np.random.default_rng(2)
x = rng.normal(size=(512, 5)).astype("float32")
y = (np.sin(x[:, :1]) + 0.5 * x[:, 1:2]).astype("float32")
model = Counted(keras.Sequential([keras.Input((5,)), layers.Dense(24, activation="tanh"), layers.Dense(1)]))
model.compile(optimizer=keras.optimizers.Adam(1e-2))
model.fit(x, y, batch_size=64, epochs=5, verbose=0, callbacks=[Watch()])
assert int(model.warmup.done) == 40 and model.tracings.seen <= 3
assert np.mean((model.predict(x, verbose=0) - y) ** 2) < 0.3
