# case: state_carried_between_chunks
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: keras-team/keras#3669 (does the gradient go through the carried state? no, on purpose)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
BATCH, CHUNK = 8, 5
cell = keras.layers.GRU(10, return_sequences=True, return_state=True, name="gru")
readout = keras.layers.Dense(1, name="readout")
memory = tf.Variable(tf.zeros((BATCH, 10)), trainable=False, name="memory")      # truncated back-propagation: the past is data
opt = keras.optimizers.Adam(1e-2)
t = np.linspace(0, 20, 60, dtype="float32")[None, :] + np.random.default_rng(0).uniform(0, 6, size=(BATCH, 1)).astype("float32")
wave = np.sin(t)[..., None].astype("float32")


def train_chunk(x, y):
    with tf.GradientTape() as tape:
        out, state = cell(x, initial_state=[memory.read_value()])
        loss = tf.reduce_mean(tf.square(readout(out) - y))
    weights = cell.trainable_variables + readout.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    memory.assign(state)
    return float(loss)


epochs = []
for epoch in range(4):
    memory.assign(tf.zeros_like(memory))
    epochs.append(np.mean([train_chunk(wave[:, i:i + CHUNK], wave[:, i + 1:i + CHUNK + 1]) for i in range(0, 50, CHUNK)]))
assert epochs[-1] < epochs[0]
print("ok", epochs)
