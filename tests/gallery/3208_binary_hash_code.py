# case: binary_hash_code
# verdict: bug; static: yes
# cause: zero-gradient-op
# expect_line: 18
# expect_variables: encoder/* (gradient exactly 0)
# symptom_today: silent: the loss never changes
# exit: 0
# fix: straight-through: h + tf.stop_gradient(tf.sign(h) - h), or train on tanh(h) and binarise afterwards
# source: Justin-Tan/generative-compression#27 (gradient of the quantizer), MatthieuCourbariaux/BinaryConnect#7 (the derivative of sign is 0 almost everywhere)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
BITS = 8
encoder = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(BITS, activation="tanh")], name="encoder")
opt = keras.optimizers.Adam(1e-2)
binarise = lambda h: tf.sign(h)


def similarity_loss(codes, labels):
    agreement = tf.matmul(codes, codes, transpose_b=True) / BITS
    wanted = tf.where(labels[:, None] == labels[None, :], 1.0, -1.0)
    return tf.reduce_mean(tf.square(agreement - wanted))


rng = np.random.default_rng(0)
labels = rng.integers(0, 3, size=48)
items = tf.constant(rng.normal(size=(48, 10)) + labels[:, None], tf.float32)
labels = tf.constant(labels)
history = []
for step in range(6):
    with tf.GradientTape() as tape:
        codes = binarise(encoder(items, training=True))
        loss = similarity_loss(codes, labels)
    grads = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(grads, encoder.trainable_variables))
    history.append(float(loss))
print("losses", history, "largest gradient", max(float(tf.reduce_max(tf.abs(g))) for g in grads))
assert len(set(history)) == 1
