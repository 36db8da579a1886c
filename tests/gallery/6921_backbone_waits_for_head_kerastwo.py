# case: waiting_backbone
# verdict: bug
# cause: python-state-in-graph
# expect_line: 30 34 57
# expect_variables: - (the number is the fault; the rule names no variables)
# symptom_today: the body of the network never starts to train although the schedule says it does after 30 steps
# exit: 0
# fix: keep the step count in a tf.Variable (or use self.optimizer.iterations) and branch with tf.cond
"""Keras 2 (tf_keras): the head warms up alone, then the body joins."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(50)

WARM_UP = 30


class WarmUpGate:
    """Counts training steps and says whether the body may train."""

    def __init__(self, wait):
        self.wait = wait
        self.steps = 0

    def tick(self):
        self.steps += 1

    @property
    def is_open(self):
        return self.steps > self.wait


class GatedModel(tf_keras.Model):
    def __init__(self, body, head, gate, **kwargs):
        super().__init__(**kwargs)
        self.body, self.head, self.gate = body, head, gate

    def call(self, x, training=None):
        return self.head(self.body(x, training=training), training=training)

    def compile(self, body_optimizer, head_optimizer, **kwargs):
        super().compile(optimizer=head_optimizer, **kwargs)
        self.body_optimizer = body_optimizer

    def train_step(self, data):
        x, y = data
        self.gate.tick()
        with tf.GradientTape(persistent=True) as tape:
            y_pred = self(x, training=True)
            loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
        head = self.head.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, head), head))
        if self.gate.is_open:
            body = self.body.trainable_variables
            self.body_optimizer.apply_gradients(zip(tape.gradient(loss, body), body))
        self.compiled_metrics.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


class Progress(tf_keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        steps = int(self.model.optimizer.iterations.numpy())
        phase = "body and head" if steps > WARM_UP else "head only"
        print(f"epoch {epoch}  steps {steps:3d}  planned: {phase:13s}  loss {logs['loss']:.3f}  accuracy {logs['acc']:.3f}")


def parcels(n, seed):
    """Which of three depots a parcel goes to: nested rings in a 10-dimensional description."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10)).astype("float32")
    radius = np.sqrt(np.sum(x[:, :3] ** 2, axis=1))
    return x, np.digitize(radius, [1.3, 1.9]).astype("int32")


def build():
    body = tf_keras.Sequential([
        layers.Dense(24, activation="relu", input_shape=(10,), name="body_a"),
        layers.Dense(16, activation="relu", name="body_b"),
    ], name="body")
    head = tf_keras.Sequential([layers.Dense(3, input_shape=(16,), name="head_out")], name="head")
    return GatedModel(body, head, WarmUpGate(WARM_UP))


x, y = parcels(2048, seed=1)
model = build()
model(x[:1])
model.compile(
    body_optimizer=tf_keras.optimizers.legacy.Adam(3e-3),
    head_optimizer=tf_keras.optimizers.legacy.Adam(1e-2),
    loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[tf_keras.metrics.SparseCategoricalAccuracy(name="acc")],
)
start = [v.numpy() for v in model.body.trainable_variables]
head_start = [v.numpy() for v in model.head.trainable_variables]
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048, seed=2).batch(64, drop_remainder=True)
history = model.fit(dataset, epochs=4, verbose=0, callbacks=[Progress()]).history

steps = int(model.optimizer.iterations.numpy())
print(f"{steps} steps were trained, the gate has counted {model.gate.steps}")
assert steps == 128 and model.gate.steps <= 3
assert all(np.array_equal(a, v.numpy()) for a, v in zip(start, model.body.trainable_variables))
assert any(not np.allclose(a, v.numpy()) for a, v in zip(head_start, model.head.trainable_variables))
