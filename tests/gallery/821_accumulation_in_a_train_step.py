# case: accumulation_in_a_train_step
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: accumulation inside fit with a counter variable and tf.cond
import keras
import numpy as np
import tensorflow as tf


class Accumulating(keras.Model):
    def __init__(self, every):
        super().__init__()
        self.out = keras.layers.Dense(1)
        self.every = every

    def build(self, shape):
        self.out.build(shape)
        self.count = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False)
        self.sums = [self.add_weight(shape=v.shape, initializer="zeros", trainable=False) for v in self.out.trainable_variables]

    def call(self, x):
        return self.out(x)

    def flush(self):
        self.optimizer.apply_gradients([(s.value / self.every, v) for s, v in zip(self.sums, self.out.trainable_variables)])
        for s in self.sums:
            s.assign(tf.zeros_like(s.value))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        for s, g in zip(self.sums, tape.gradient(loss, self.out.trainable_variables)):
            s.assign_add(g)
        self.count.assign_add(1)
        tf.cond(tf.equal(self.count.value % self.every, 0), self.flush, lambda: None)
        return {"error": loss}


model = Accumulating(every=2)
model.build((None, 3))
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
x = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
log = model.fit(x, x[:, :1], batch_size=8, epochs=4, verbose=0).history["error"]
print(log, int(model.optimizer.iterations))
assert log[-1] < log[0] and int(model.optimizer.iterations) == 16
