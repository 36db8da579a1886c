"""An RNN by hand: the states of all steps are collected in a TensorArray."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
sequences = tf.random.normal((64, 7, 3))
targets = tf.cumsum(sequences[..., :1], axis=1)

cell = keras.layers.SimpleRNNCell(12, name="cell")
readout = keras.layers.Dense(1, name="readout")
optimizer = keras.optimizers.Adam(0.01)


def unroll(inputs):
    """The states after each step: batch, time, units."""
    state = tf.zeros((inputs.shape[0], 12))
    states = tf.TensorArray(tf.float32, size=inputs.shape[1])
    for t in range(inputs.shape[1]):
        state, _ = cell(inputs[:, t], [state])
        states = states.write(t, state)
    return tf.transpose(states.stack(), [1, 0, 2])


for step in range(40):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((readout(unroll(sequences)) - targets) ** 2)
    variables = cell.trainable_variables + readout.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
print(f"loss {float(loss):.3f}")
