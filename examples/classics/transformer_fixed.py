"""A small transformer over six readings of four sensors: did the first sensor rise from start to end?"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
readings = tf.random.normal((256, 6, 4))
labels = tf.cast(readings[:, -1, :1] > readings[:, 0, :1], tf.float32)


class Encoder(keras.Model):
    def __init__(self, length=6, width=16):
        super().__init__(name="encoder")
        self.projection = keras.layers.Dense(width, name="projection")
        self.position_table = self.add_weight(shape=(length, width), initializer="uniform", name="position_table")
        self.attention = keras.layers.MultiHeadAttention(num_heads=2, key_dim=8)
        self.norm = keras.layers.LayerNormalization()
        self.head = keras.layers.Dense(1, name="head")

    def call(self, readings):
        x = self.projection(readings) + tf.expand_dims(self.position_table, 0)
        x = self.norm(x + self.attention(x, x))
        return self.head(tf.reduce_mean(x, axis=1))


model = Encoder()
optimizer = keras.optimizers.Adam(0.01)
entropy = keras.losses.BinaryCrossentropy(from_logits=True)

for step in range(40):
    with tf.GradientTape() as tape:
        loss = entropy(labels, model(readings, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
print(f"loss {float(loss):.3f}")
