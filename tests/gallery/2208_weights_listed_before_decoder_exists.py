# case: weights_listed_before_decoder_exists
# verdict: bug; static: no
# cause: unbuilt-model
# expect_line: 33
# expect_variables: - (up/kernel and up/bias, which were not there yet)
# symptom_today: silent: only the encoder is trained
# exit: 0
# fix: read trainable_variables after the whole model was called once (or in the loop)
# source: tensorflow/tensorflow#29729 and #39358 (variables exist only after the call)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Autoencoder(keras.Model):
    def __init__(self, dim, code):
        super().__init__()
        self.down = keras.layers.Dense(code, activation="tanh", name="down")
        self.up = keras.layers.Dense(dim, name="up")

    def encode(self, x):
        return self.down(x)

    def call(self, x):
        return self.up(self.encode(x))


x = tf.constant(np.random.default_rng(0).normal(size=(48, 10)).astype("float32"))
model = Autoencoder(10, 3)
print("code of the first row:", model.encode(x[:1]).numpy())
weights = model.trainable_variables
opt = keras.optimizers.Adam(1e-2)

for step in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - x))
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    if step == 0:
        first = model.up.get_weights()[0].copy()
print("trained", len(weights), "of", len(model.trainable_variables))
assert np.array_equal(first, model.up.get_weights()[0]) and len(weights) < len(model.trainable_variables)
