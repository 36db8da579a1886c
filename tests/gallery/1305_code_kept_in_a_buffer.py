# case: code_kept_in_a_buffer
# verdict: bug; static: no
# cause: assign-breaks-gradient
# expect_line: 27
# expect_variables: encoder/*
# symptom_today: silent: no warning; the reconstruction stays bad and the codes collapse to zero
# exit: 0
# fix: decode z itself; write it to the buffer only to look at it later
# seen: terms of the loss: reconstruction (cut from encoder), 0.01 * activity (reaches encoder only)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(14)
BATCH, CODE = 32, 4
encoder = keras.Sequential(
    [keras.Input((12,)), keras.layers.Dense(16, activation="gelu"), keras.layers.Dense(CODE)], name="encoder")
decoder = keras.Sequential(
    [keras.Input((CODE,)), keras.layers.Dense(16, activation="gelu"), keras.layers.Dense(12)], name="decoder")
last_code = tf.Variable(tf.zeros((BATCH, CODE)), trainable=False, name="last_code")
optimizer = keras.optimizers.Adam(0.01)
weights = encoder.trainable_variables + decoder.trainable_variables


def encode(x):
    z = encoder(x, training=True)
    last_code.assign(z)
    return z


@tf.function
def train_on(batch):
    with tf.GradientTape() as tape:
        z = encode(batch)
        rebuilt = decoder(last_code, training=True)
        reconstruction = tf.reduce_mean(tf.reduce_sum(tf.square(rebuilt - batch), axis=-1))
        activity = tf.reduce_mean(tf.square(z))
        loss = reconstruction + 0.01 * activity
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return reconstruction, activity


rng = np.random.default_rng(14)
basis = rng.normal(size=(CODE, 12))
data = (rng.normal(size=(BATCH * 2, CODE)) @ basis).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(data).batch(BATCH, drop_remainder=True).repeat(10)
seen = [[float(v) for v in train_on(batch)] for batch in dataset]
print("reconstruction", seen[0][0], seen[-1][0], "activity", seen[0][1], seen[-1][1])
assert seen[-1][1] < seen[0][1]
