# case: legacy_fit_with_averaged_accumulation
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (tf_keras train_step)
import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(0)


class Gathered(tf_keras.Model):
    def prepare(self, every):
        self.every = every
        self.count = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.trainable_variables]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True)) / float(self.every)
        grads = tape.gradient(loss, self.trainable_variables)
        for slot, g in zip(self.slots, grads):
            slot.assign_add(tf.convert_to_tensor(g))
        self.count.assign_add(1)

        def flush():
            clipped, _ = tf.clip_by_global_norm([s.read_value() for s in self.slots], 5.0)
            self.optimizer.apply_gradients(zip(clipped, self.trainable_variables))
            for slot in self.slots:
                slot.assign(tf.zeros_like(slot))

        tf.cond(self.count % self.every == 0, flush, lambda: None)
        return {"loss": loss * float(self.every)}


words = tf_keras.Input((6,), dtype="int32")
h = tf_keras.layers.GlobalAveragePooling1D()(tf_keras.layers.Embedding(30, 8)(words))
model = Gathered(words, tf_keras.layers.Dense(1)(h))
model.prepare(4)
opt = tf_keras.optimizers.Adam(2e-2)
opt.build(model.trainable_variables)
model.compile(opt, "mse")
rng = np.random.default_rng(0)
ids = rng.integers(0, 30, (128, 6))
log = model.fit(ids, (ids < 15).mean(1, keepdims=True), batch_size=8, epochs=6, verbose=0).history["loss"]
print(log[0], log[-1])
assert log[-1] < log[0]
