# case: stay_close_to_itself
# verdict: bug
# cause: aliased-network
# expect_line: 41 42 65 68
# expect_variables: -
# symptom_today: drift is 0.0000 in every epoch although the weights of the base move away from where they were
# exit: 0
# fix: start = keras.models.clone_model(base); start.set_weights(base.get_weights())
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(30)


class FineTuner(keras.Model):
    """Fine-tunes base + head, and holds the base near the weights it had at the start."""

    def __init__(self, base, start, head, strength=0.05):
        super().__init__()
        self.base = base
        self.start = start
        self.head = head
        self.strength = strength
        self.task_tracker = keras.metrics.Mean(name="task")
        self.drift_tracker = keras.metrics.Mean(name="drift")

    @property
    def metrics(self):
        return [self.task_tracker, self.drift_tracker]

    def call(self, x, training=None):
        return self.head(self.base(x, training=training), training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            task = tf.reduce_mean(keras.losses.binary_crossentropy(y, y_pred))
            drift = tf.add_n([tf.reduce_sum(tf.square(now - before))
                              for now, before in zip(self.base.weights, self.start.weights)])
            loss = task + self.strength * drift
        weights = self.base.trainable_variables + self.head.trainable_variables
        grads = tape.gradient(loss, weights)
        self.optimizer.apply_gradients(zip(grads, weights))
        self.task_tracker.update_state(task)
        self.drift_tracker.update_state(drift)
        return {"task": self.task_tracker.result(), "drift": self.drift_tracker.result()}


def points(rule, n=500, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, 6)).astype("float32")
    return x, rule(x).astype("float32")[:, None]


# first task: many data, base and head from scratch
base = keras.Sequential([keras.Input((6,)), layers.Dense(24, activation="tanh"),
                         layers.Dense(12, activation="tanh")], name="base")
pretrained = keras.Sequential([base, layers.Dense(1, activation="sigmoid")])
pretrained.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
pretrained.fit(*points(lambda x: x[:, 0] * x[:, 1] > 0), batch_size=50, epochs=8, verbose=0)

# second task: few data, a new head
start = base
weights_then = base.get_weights()
head = keras.Sequential([keras.Input((12,)), layers.Dense(1, activation="sigmoid")], name="head")
tuner = FineTuner(base, start, head)
tuner.compile(optimizer=keras.optimizers.Adam(0.01))
history = tuner.fit(*points(lambda x: x[:, 0] * x[:, 1] + x[:, 2] > 0, n=120, seed=1),
                    batch_size=30, epochs=12, verbose=0)
for epoch in range(0, 12, 2):
    print(f"epoch {epoch}: task {history.history['task'][epoch]:.4f}  drift {history.history['drift'][epoch]:.4f}")
moved = sum(float(np.sum((a - b) ** 2)) for a, b in zip(base.get_weights(), weights_then))
print("the base moved by", round(moved, 4))
