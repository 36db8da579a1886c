# case: clip_model_with_temperature
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import numpy as np
import keras
import tensorflow as tf
from keras import ops

keras.utils.set_random_seed(0)


class TinyClip(keras.Model):
    def __init__(self):
        super().__init__()
        self.image = keras.layers.Dense(6, name="image")
        self.text = keras.layers.Dense(6, name="text")
        self.log_temperature = self.add_weight(shape=(), initializer="zeros", name="log_temperature")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.hits = keras.metrics.Mean(name="hits")

    def call(self, inputs):
        a, b = inputs
        a = ops.normalize(self.image(a), axis=-1)
        b = ops.normalize(self.text(b), axis=-1)
        return ops.matmul(a, ops.transpose(b)) * ops.exp(self.log_temperature)

    def train_step(self, data):
        pair = data[0] if isinstance(data[0], tuple) else data
        with tf.GradientTape() as tape:
            scores = self(pair, training=True)
            right = ops.arange(ops.shape(scores)[0])
            loss = 0.5 * (ops.mean(ops.sparse_categorical_crossentropy(right, scores, from_logits=True))
                          + ops.mean(ops.sparse_categorical_crossentropy(right, ops.transpose(scores), from_logits=True)))
        weights = self.trainable_variables
        self.optimizer.apply(tape.gradient(loss, weights), weights)
        self.loss_tracker.update_state(loss)
        self.hits.update_state(ops.cast(ops.equal(ops.argmax(scores, axis=1), ops.cast(right, "int32")), "float32"))   # a metric may use argmax
        return {"loss": self.loss_tracker.result(), "hits": self.hits.result()}


rng = np.random.default_rng(0)
hidden = rng.normal(size=(64, 4)).astype("float32")
photos, captions = hidden @ rng.normal(size=(4, 9)).astype("float32"), hidden @ rng.normal(size=(4, 7)).astype("float32")
model = TinyClip()
model.compile(optimizer=keras.optimizers.Adam(1e-2))
dataset = tf.data.Dataset.from_tensor_slices((photos, captions)).batch(16)
first = model.fit(dataset, epochs=1, verbose=0).history["loss"][0]
last = model.fit(dataset, epochs=8, verbose=0).history["loss"][-1]
assert last < first and float(model.log_temperature) != 0.0
print("ok", first, last, float(model.log_temperature))
