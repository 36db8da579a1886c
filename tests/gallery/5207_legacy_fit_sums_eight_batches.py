# case: legacy_fit_sums_eight_batches
# verdict: bug; static: yes
# cause: accumulation-no-averaging
# expect_line: 35 29
# expect_variables: dense/*, dense_1/* (the step is eight times too long)
# symptom_today: silent: trains with eight times the step of the large batch
# exit: 0
# fix: divide the sums by n_batches before apply_gradients
# source: tensorflow/tensorflow#47578 and andreped/GradientAccumulator#2 (accumulation in a custom train_step does not match the large batch)
import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(0)


class Accumulating(tf_keras.Model):
    def __init__(self, n_batches, **kw):
        super().__init__(**kw)
        self.n_batches = n_batches
        self.seen = tf.Variable(0, dtype=tf.int32, trainable=False)
        self.sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compiled_loss(y, self(x, training=True))
        for total, g in zip(self.sums, tape.gradient(loss, self.trainable_variables)):
            total.assign_add(g)
        self.seen.assign_add(1)
        tf.cond(tf.equal(self.seen, self.n_batches), self.flush, lambda: None)
        return {m.name: m.result() for m in self.metrics}

    def flush(self):
        self.optimizer.apply_gradients(zip(self.sums, self.trainable_variables))
        self.seen.assign(0)
        for total in self.sums:
            total.assign(tf.zeros_like(total))


inp = tf_keras.Input((4,))
model = Accumulating(8, inputs=inp, outputs=tf_keras.layers.Dense(1)(tf_keras.layers.Dense(8, activation="tanh")(inp)))
opt = tf_keras.optimizers.SGD(0.02)
opt.build(model.trainable_variables)
model.compile(opt, "mse")
rng = np.random.default_rng(0)
x = rng.normal(size=(128, 4)).astype("float32")
history = model.fit(x, x.sum(1, keepdims=True), batch_size=4, epochs=3, verbose=0)
print(history.history["loss"])
