# case: tile_captions
# verdict: bug
# cause: validation-leaks-into-training
# expect_line: 72 73
# expect_variables: -
# symptom_today: evaluate() changes the weights; a second evaluate() of the same held-out tiles is better than the first, val_loss is too good
# exit: 0
# fix: no tape and no apply_gradients in test_step: only the loss of the forward pass
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
# 0 pad, 1 start, 2 end, 3.. colours, 6 "big", 7.. places
VOCAB = 11


def tiles(n):
    imgs = rng.normal(0.1, 0.05, (n, 8, 8, 3)).astype("float32")
    caps = np.zeros((n, 6), "int32")
    for i in range(n):
        colour, place, big = rng.integers(3), rng.integers(4), rng.integers(2)
        r, c = 4 * (place // 2), 4 * (place % 2)
        s = 4 if big else 2
        imgs[i, r:r + s, c:c + s, colour] += 0.8
        words = [1] + ([6] if big else []) + [3 + colour, 7 + place, 2]
        caps[i, :len(words)] = words
    return imgs, caps


class Captioner(keras.Model):
    def __init__(self):
        super().__init__()
        self.cnn = keras.Sequential([layers.Conv2D(12, 3, activation="elu", padding="same"),
                                     layers.Flatten(), layers.Dense(32, activation="tanh")])
        self.embed = layers.Embedding(VOCAB, 16)
        self.gru = layers.GRU(32, return_sequences=True)
        self.words = layers.Dense(VOCAB)
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
        self.loss_mean = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_mean]

    def call(self, inputs, training=False):
        img, seq = inputs
        h = self.gru(self.embed(seq), initial_state=self.cnn(img, training=training))
        return self.words(h)

    def caption_loss(self, img, cap, training):
        logits = self((img, cap[:, :-1]), training=training)
        mask = tf.cast(cap[:, 1:] != 0, tf.float32)
        per_word = self.ce(cap[:, 1:], logits)
        return tf.reduce_sum(per_word * mask) / tf.reduce_sum(mask)

    def train_step(self, data):
        img, cap = data
        with tf.GradientTape() as tape:
            loss = self.caption_loss(img, cap, training=True)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}

    def test_step(self, data):
        img, cap = data
        with tf.GradientTape() as tape:
            loss = self.caption_loss(img, cap, training=False)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}


x_tr, y_tr = tiles(192)
x_va, y_va = tiles(64)
model = Captioner()
model.compile(optimizer=keras.optimizers.Adam(0.005))
model.fit(x_tr, y_tr, batch_size=32, epochs=6, validation_data=(x_va, y_va), verbose=2)
before = [w.copy() for w in model.get_weights()]
print("held out, once ", model.evaluate(x_va, y_va, verbose=0))
print("held out, again", model.evaluate(x_va, y_va, verbose=0))
print("weights moved by evaluate:", max(np.abs(a - b).max() for a, b in zip(before, model.get_weights())))
