# case: accumulation_with_tf_cond
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; one update per four micro-batches, slots are averaged and cleared
# exit: 0
# fix: -
# source: own; the right form of tensorflow/tensorflow#47578
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Accumulating(keras.Model):
    def __init__(self, every):
        super().__init__()
        self.every = every
        self.hidden, self.out = keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)

    def build(self, shape):
        self.hidden.build(shape)
        self.out.build((None, 8))
        self.params = self.hidden.trainable_variables + self.out.trainable_variables
        self.turn = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False, name="turn")
        self.slots = [self.add_weight(shape=v.shape, initializer="zeros", trainable=False) for v in self.params]

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        for slot, g in zip(self.slots, tape.gradient(loss, self.params)):
            slot.assign_add(g)
        self.turn.assign_add(1)
        tf.cond(tf.equal(self.turn.value, self.every), self.update, lambda: None)
        return {"loss": loss}

    def update(self):
        self.optimizer.apply([s.value / self.every for s in self.slots], self.params)
        for slot in self.slots:
            slot.assign(tf.zeros_like(slot.value))
        self.turn.assign(0)


x = np.random.default_rng(0).normal(size=(64, 5)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = Accumulating(every=4)
model.build((None, 5))
model.compile(keras.optimizers.Adam(3e-2), "mse")
model.optimizer.build(model.params)
start = model.evaluate(x, y, verbose=0)
model.fit(x, y, batch_size=4, epochs=15, verbose=0)
end = model.evaluate(x, y, verbose=0)
assert int(model.optimizer.iterations) == 60 and end < 0.5 * start
print("ok", start, end)
