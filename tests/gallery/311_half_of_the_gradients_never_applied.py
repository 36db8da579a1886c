# case: half_of_the_gradients_never_applied
# verdict: bug; static: no
# cause: never-updated
# expect_line: 24 26
# expect_variables: encoder/*
# symptom_today: silent: gradients of both parts are computed, one part is applied
# exit: 0
# fix: apply the encoder's gradients too
# seen: split optimisers where one apply line was lost in a merge
import keras
import numpy as np
import tensorflow as tf

encoder = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(4, activation="elu")], name="encoder")
decoder = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(6)], name="decoder")
enc_opt, dec_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-2)
enc_opt.build(encoder.trainable_variables), dec_opt.build(decoder.trainable_variables)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((decoder(encoder(x)) - x) ** 2)
    enc_grads, dec_grads = tape.gradient(loss, [encoder.trainable_variables, decoder.trainable_variables])
    norm = tf.linalg.global_norm(enc_grads)
    dec_opt.apply_gradients(zip(dec_grads, decoder.trainable_variables))
    return loss, norm


kept = encoder.get_weights()[0].copy()
x = tf.random.normal((40, 6), seed=9)
for _ in range(12):
    loss, norm = step(x)
print(float(loss), float(norm))
assert np.array_equal(kept, encoder.get_weights()[0]) and norm > 0
