# case: masked_patches_chosen_by_sorted_noise
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: masked autoencoders: random indices, gathered patches
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)


class MaskedAutoencoder(keras.Model):
    def __init__(self, patches=9, width=8, keep=4):
        super().__init__()
        self.patches, self.keep = patches, keep
        self.embed = keras.layers.Dense(width)
        self.position = self.add_weight(shape=(1, patches, width), initializer="random_normal", name="position")
        self.blank = self.add_weight(shape=(1, 1, width), initializer="random_normal", name="blank")
        self.attend = keras.layers.MultiHeadAttention(2, 4)
        self.look = keras.layers.MultiHeadAttention(2, 4)
        self.decode = keras.layers.Dense(6)

    def call(self, x):
        batch = tf.shape(x)[0]
        tokens = self.embed(x) + self.position
        order = tf.argsort(tf.random.uniform((batch, self.patches)), axis=1)
        back = tf.argsort(order, axis=1)
        seen = tf.gather(tokens, order[:, : self.keep], batch_dims=1)
        seen = seen + self.attend(seen, seen)
        filler = tf.tile(self.blank, (batch, self.patches - self.keep, 1))
        full = tf.gather(tf.concat([seen, filler], axis=1), back, batch_dims=1)
        full = full + self.position
        full = full + self.look(full, full)
        hidden = tf.cast(back >= self.keep, x.dtype)
        return self.decode(full), hidden

    def train_step(self, x):
        with tf.GradientTape() as tape:
            restored, hidden = self(x, training=True)
            per_patch = tf.reduce_mean((restored - x) ** 2, axis=-1)
            loss = tf.reduce_sum(per_patch * hidden) / tf.reduce_sum(hidden)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"masked_error": loss}


x = np.random.default_rng(5).normal(loc=1.0, scale=0.3, size=(64, 9, 6)).astype("float32")
mae = MaskedAutoencoder()
mae.compile(optimizer=keras.optimizers.Adam(0.01))
losses = mae.fit(x, epochs=6, batch_size=8, verbose=0).history["masked_error"]
print(losses)
assert losses[-1] < losses[0]
