# case: truncated_backpropagation
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: recurrent state carried over windows, detached on purpose
import keras
import tensorflow as tf

keras.utils.set_random_seed(2)
cell = keras.layers.LSTMCell(6)
head = keras.layers.Dense(1)
cell.build((None, 1)), head.build((None, 6))
weights = cell.trainable_weights + head.trainable_weights
opt = keras.optimizers.Adam(0.02)
memory = [tf.Variable(tf.zeros((4, 6)), trainable=False, name=n) for n in ("h", "c")]


@tf.function
def window(chunk):
    with tf.GradientTape() as tape:
        state = [tf.stop_gradient(m) for m in memory]
        loss = 0.0
        for t in range(4):
            out, state = cell(chunk[:, t : t + 1], state)
            loss += tf.reduce_mean((head(out) - chunk[:, t + 1 : t + 2]) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    for m, s in zip(memory, state):
        m.assign(s)
    return loss


wave = tf.sin(tf.reshape(tf.range(4.0), (4, 1)) + 0.3 * tf.range(41.0)[None])
losses = []
for _ in range(3):
    for m in memory:
        m.assign(tf.zeros_like(m))
    losses += [float(window(wave[:, s : s + 5])) for s in range(0, 36, 4)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
