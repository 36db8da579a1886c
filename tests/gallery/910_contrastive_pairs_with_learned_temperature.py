# case: contrastive_pairs_with_learned_temperature
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: image-text style training with one temperature and two towers
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(9)


class TwoTowers(keras.Model):
    def __init__(self, width=6):
        super().__init__()
        self.image = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(width),
                                       keras.layers.UnitNormalization()])
        self.text = keras.Sequential([keras.layers.Embedding(20, 8, mask_zero=True), keras.layers.LSTM(12),
                                      keras.layers.Dense(width), keras.layers.UnitNormalization()])
        self.log_scale = self.add_weight(shape=(), initializer=keras.initializers.Constant(2.0), name="log_scale")

    def call(self, inputs):
        picture, words = inputs
        return tf.matmul(self.image(picture), self.text(words), transpose_b=True) * tf.exp(self.log_scale)

    def train_step(self, data):
        (pair,) = data if len(data) == 1 else (data,)
        with tf.GradientTape() as tape:
            logits = self(pair, training=True)
            labels = tf.range(tf.shape(logits)[0])
            rows = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            columns = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.transpose(logits))
            loss = 0.5 * tf.reduce_mean(rows + columns)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        hits = tf.reduce_mean(tf.cast(tf.argmax(logits, -1, output_type=tf.int32) == labels, tf.float32))
        return {"loss": loss, "hits": hits}


rng = np.random.default_rng(9)
words = rng.integers(1, 20, size=(64, 4)).astype("int32")
words[::3, 3] = 0
pictures = np.eye(20, dtype="float32")[words].sum(axis=1)
pairs = tf.data.Dataset.from_tensor_slices(((pictures, words),)).batch(16)
model = TwoTowers()
model.compile(optimizer=keras.optimizers.Adam(0.01))
losses = model.fit(pairs, epochs=4, verbose=0).history["loss"]
print(losses, float(model.log_scale.numpy()))
assert losses[-1] < losses[0]
