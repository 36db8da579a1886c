# case: slots_kept_after_the_update
# verdict: bug; static: no
# cause: accumulation-not-reset
# expect_line: 36
# expect_variables: *
# symptom_today: silent: each update contains the gradients of all earlier windows
# exit: 0
# fix: slot.assign(tf.zeros_like(slot)) after apply_gradients
# seen: accumulation inside a custom train_step
import keras
import numpy as np
import tensorflow as tf


class Accumulating(keras.Model):
    def __init__(self, inner, every):
        super().__init__()
        self.inner, self.every = inner, every
        self.seen = keras.Variable(0, dtype="int32", trainable=False, name="seen")
        self.slots = [keras.Variable(tf.zeros(v.shape), trainable=False, name=f"slot_{i}") for i, v in enumerate(inner.trainable_variables)]

    def call(self, x, training=None):
        return self.inner(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        for slot, g in zip(self.slots, tape.gradient(loss, self.inner.trainable_variables)):
            slot.assign_add(g / self.every)
        self.seen.assign_add(1)
        tf.cond(self.seen.value % self.every == 0, self.apply, lambda: None)
        return {"error": loss}

    def apply(self):
        self.optimizer.apply_gradients([(s.value, v) for s, v in zip(self.slots, self.inner.trainable_variables)])


inner = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model = Accumulating(inner, every=3)
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
x = np.random.default_rng(2).normal(size=(72, 3)).astype("float32")
model.fit(x, x[:, 1:2], batch_size=4, epochs=2, verbose=0)
print([float(tf.norm(s.value)) for s in model.slots])
assert any(float(tf.norm(s.value)) > 0 for s in model.slots)
