# case: stream_state_in_attribute
# verdict: bug
# cause: python-state-in-graph
# expect_line: 38 54 58
# expect_variables: -
# symptom_today: no error; every chunk starts from zeros, the loss stays near 0.5 (0.1 with the state carried on), net.h holds a symbolic tensor after the training
# exit: 0
# fix: keep the state in tf.Variable(..., trainable=False) and write it with net.h.assign(h), or pass it in and return it
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)

STREAMS, CHUNK, CHUNKS, UNITS = 16, 12, 150, 16
MEMORY = 0.95


def plant():
    """A slow process: the output remembers its input for many chunks."""
    u = rng.normal(size=(STREAMS, CHUNK * CHUNKS, 1))
    y = np.zeros_like(u)
    level = np.zeros((STREAMS, 1))
    for t in range(u.shape[1]):
        level = MEMORY * level + u[:, t]
        y[:, t] = level
    return u.astype("float32"), (y / y.std()).astype("float32")


class Streamer:
    """GRU that reads an endless stream chunk by chunk (truncated backpropagation)."""

    def __init__(self):
        self.gru = layers.GRU(UNITS, return_sequences=True, return_state=True)
        self.head = layers.Dense(1)
        self.h = tf.zeros([STREAMS, UNITS])
        self.head(self.gru(tf.zeros([STREAMS, CHUNK, 1]))[0])     # build

    @property
    def variables(self):
        return self.gru.trainable_variables + self.head.trainable_variables


net = Streamer()
optimizer = keras.optimizers.Adam(1e-2)
optimizer.build(net.variables)


@tf.function
def train_chunk(u, y):
    with tf.GradientTape() as tape:
        seq, h = net.gru(u, initial_state=net.h)
        loss = tf.reduce_mean(tf.square(net.head(seq) - y))
    grads = tape.gradient(loss, net.variables)
    optimizer.apply_gradients(zip(grads, net.variables))
    net.h = h                  # the next chunk goes on from here
    return loss


u, y = plant()
recent = []
for k in range(CHUNKS):
    part = slice(k * CHUNK, (k + 1) * CHUNK)
    recent.append(float(train_chunk(tf.constant(u[:, part]), tf.constant(y[:, part]))))
    if (k + 1) % 25 == 0:
        print(f"chunk {k + 1:4d}  mean loss of the last 25: {np.mean(recent[-25:]):.4f}")
print("state after the stream:", net.h)
