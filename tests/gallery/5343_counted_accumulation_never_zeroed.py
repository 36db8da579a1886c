# case: counted_accumulation_never_zeroed
# verdict: bug
# cause: accumulation-not-reset
# expect_line: 39 47
# expect_variables: sequential/*
# symptom_today: trains; the loss grows, every update repeats all gradients before it
# exit: 0
# fix: assign zeros to the slots after the update
# seen: the slots are divided by a counter for each update; only the counter is set back
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(8)


class MicroBatches(keras.Model):
    def __init__(self, every=4):
        super().__init__()
        self.every = every
        self.net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
        self.slots = [
            self.add_weight(shape=v.shape, initializer="zeros", trainable=False, name=f"slot_{i}")
            for i, v in enumerate(self.net.trainable_variables)
        ]
        self.counter = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False, name="counter")
        self.tracker = keras.metrics.Mean(name="mse")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x, training=None):
        return self.net(x, training=training)

    def flush(self):
        scale = 1.0 / tf.cast(self.counter, tf.float32)
        means = [slot * scale for slot in self.slots]
        self.optimizer.apply_gradients(zip(means, self.net.trainable_variables))
        self.counter.assign(0)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
        for slot, grad in zip(self.slots, tape.gradient(loss, self.net.trainable_variables)):
            slot.assign_add(grad)
        self.counter.assign_add(1)
        tf.cond(tf.equal(self.counter, self.every), self.flush, lambda: None)
        self.tracker.update_state(loss)
        return {"mse": self.tracker.result()}


rng = np.random.default_rng(2)
x = rng.normal(size=(320, 6)).astype("float32")
y = (x @ rng.normal(size=(6, 1)) * 0.5).astype("float32")
model = MicroBatches()
optimizer = keras.optimizers.Adam(2e-2)
optimizer.build(model.net.trainable_variables)
model.compile(optimizer=optimizer)
history = model.fit(x, y, epochs=8, batch_size=10, verbose=0)
print("mse", history.history["mse"][0], history.history["mse"][-1], "updates", int(optimizer.iterations))
