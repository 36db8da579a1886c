# case: four_micro_batches_four_times_the_step
# verdict: bug; static: no
# cause: accumulation-no-averaging
# expect_line: 23 33 35
# expect_variables: *
# symptom_today: silent: the update is four times as large as that of the full batch
# exit: 0
# fix: divide the sum by the number of micro-batches
# seen: an accumulating train_step with tf.cond under fit
import keras
import numpy as np
import tensorflow as tf


class Micro(keras.Model):
    def __init__(self, every, **kwargs):
        super().__init__(**kwargs)
        self.every = tf.constant(every, tf.int32)
        self.count = tf.Variable(0, trainable=False, dtype=tf.int32)
        self.sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.trainable_variables]

    def flush(self):
        self.optimizer.apply_gradients(zip(self.sums, self.trainable_variables))
        for s in self.sums:
            s.assign(tf.zeros_like(s))
        return True

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        for s, g in zip(self.sums, tape.gradient(loss, self.trainable_variables)):
            s.assign_add(g)
        self.count.assign_add(1)
        tf.cond(self.count % self.every == 0, self.flush, lambda: False)
        return {"loss": loss}


def build(cls, **kwargs):
    keras.utils.set_random_seed(2)
    inputs = keras.Input((3,))
    model = cls(inputs=inputs, outputs=keras.layers.Dense(1)(inputs), **kwargs)
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    return model


x = np.random.default_rng(2).normal(size=(32, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)
small, full = build(Micro, every=4), build(keras.Model)
start = full.get_weights()[0]
small.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=0)
full.fit(x, y, batch_size=32, epochs=1, verbose=0)
ratio = (small.get_weights()[0] - start) / (full.get_weights()[0] - start)
print(ratio.ravel())
assert np.allclose(ratio, 4.0, rtol=1e-3)
