# case: slots_cleared_only_at_epoch_end
# verdict: bug; static: no
# cause: accumulation-not-reset
# expect_line: 44 50
# expect_variables: accumulating/dense/kernel (from the second update of an epoch on, old micro-batches are applied again)
# symptom_today: silent: later updates of an epoch repeat the earlier gradients
# exit: 0
# fix: assign zeros to the slots right after each apply, inside train_step
# source: tensorflow/tensorflow#47578 (gradient accumulation in a custom train_step; where to clear the slots), keras-team/keras#14483 linked there
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Accumulating(keras.Model):
    def __init__(self, every):
        super().__init__()
        self.every = every
        self.out = keras.layers.Dense(1, use_bias=False)

    def build(self, shape):
        self.out.build(shape)
        self.turn = self.add_weight(shape=(), initializer="zeros", trainable=False, name="turn")
        self.slots = [self.add_weight(shape=v.shape, initializer="zeros", trainable=False) for v in self.out.trainable_variables]

    def call(self, x):
        return self.out(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        grads = tape.gradient(loss, self.out.trainable_variables)
        for slot, g in zip(self.slots, grads):
            slot.assign_add(g / self.every)
        self.turn.assign_add(1.0)
        due = tf.equal(tf.math.floormod(self.turn.value, float(self.every)), 0.0)
        tf.cond(due, self.apply_slots, lambda: None)
        return {"loss": loss}

    def apply_slots(self):
        self.optimizer.apply([s.value for s in self.slots], self.out.trainable_variables)


class ClearSlots(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        for slot in self.model.slots:
            slot.assign(np.zeros(slot.shape, "float32"))


x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
y = x @ np.array([[1.0], [-2.0], [0.5], [3.0]], "float32")
model = Accumulating(every=4)
model.build((None, 4))
model.compile(keras.optimizers.SGD(0.05), "mse")
model.optimizer.build(model.out.trainable_variables)
model.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0)
leftover = [float(np.abs(s.numpy()).max()) for s in model.slots]
model.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0, callbacks=[ClearSlots()])
print("updates:", int(model.optimizer.iterations), "slots still full after the last update of an epoch:", leftover)
assert max(leftover) > 0
