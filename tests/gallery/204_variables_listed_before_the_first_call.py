# case: variables_listed_before_the_first_call
# verdict: bug; static: yes
# cause: unbuilt-model
# expect_line: 19 22
# expect_variables: - (none were there yet: all of the decoder)
# symptom_today: silent: the list was taken when only the encoder had weights; the decoder never trains
# exit: 0
# fix: build the decoder (or call it once) before the list is made
# seen: parameter lists made at the top of the script
import keras
import numpy as np
import tensorflow as tf

encoder = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(3, activation="tanh")], name="encoder")
decoder = keras.Sequential([keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(8)], name="decoder")


def parameters(*networks):
    return [v for n in networks for v in n.trainable_variables]


theta = parameters(encoder, decoder)
opt = keras.optimizers.Adam(3e-3)
x = tf.random.normal((64, 8), seed=1)
history = []
for epoch in range(8):
    with tf.GradientTape() as tape:
        rebuilt = decoder(encoder(x))
        loss = tf.reduce_mean(tf.square(rebuilt - x))
    opt.apply_gradients(zip(tape.gradient(loss, theta), theta))
    if epoch == 0:
        decoder_at_start = decoder.get_weights()[0].copy()
    history.append(float(loss))
print(history[0], history[-1], len(theta), "of", len(parameters(encoder, decoder)))
assert len(theta) == 2 and np.array_equal(decoder_at_start, decoder.get_weights()[0])
