# case: gradients_cut_by_the_number_of_weights
# verdict: bug; static: no
# cause: misrouted-gradient; also: never-updated at line 26
# expect_line: 27 29
# expect_variables: decoder/*
# symptom_today: silent: the first decoder layer is moved by the gradient of the second, which never moves
# exit: 0
# fix: n = len(encoder.trainable_variables)
# source: tensorflow/tensorflow#45582 (weights and trainable weights have different lengths)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(16)
encoder = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(6), keras.layers.BatchNormalization()], name="encoder")
decoder = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(6, activation="tanh", name="first"),
                            keras.layers.Dense(6, name="second")], name="decoder")
enc_opt, dec_opt = keras.optimizers.Adam(1e-2), keras.optimizers.Adam(1e-2)
data = tf.random.normal((64, 6))


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(decoder(encoder(x, training=True), training=True) - x))
    grads = tape.gradient(loss, encoder.trainable_variables + decoder.trainable_variables)
    n = len(encoder.weights)
    enc_opt.apply_gradients(zip(grads[:n], encoder.trainable_variables))
    dec_opt.apply_gradients(zip(grads[n:], decoder.trainable_variables))
    return loss


before = [v.numpy().copy() for v in decoder.trainable_variables]
for _ in range(20):
    loss = step(data)
moved = [float(np.abs(v.numpy() - b).max()) for v, b in zip(decoder.trainable_variables, before)]
print("loss", float(loss), "moved", moved)
assert moved[0] > 0 and moved[2] == 0
