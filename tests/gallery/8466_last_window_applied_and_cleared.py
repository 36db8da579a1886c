# case: flush_counts_and_clears
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the loss goes down, the buffers are zero after each update
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(32)

X = np.random.normal(size=(150, 8)).astype("float32")
Y = (np.cos(X[:, :1]) + 0.7 * X[:, 1:2]).astype("float32")
Y = (Y - Y.mean()) / Y.std()
# 10 micro-batches, the last one has 6 rows only
micro = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(150, seed=3).batch(16)


class GradBank:
    """Adds up gradients of *summed* losses and divides by the number of rows that were seen."""

    def __init__(self, model, optimizer, window):
        self.variables = model.trainable_variables
        self.optimizer = optimizer
        self.window = window
        self.count = 0
        self.rows = tf.Variable(0.0, trainable=False)
        self.buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.variables]

    def push(self, grads, rows):
        for buf, g in zip(self.buffers, grads):
            buf.assign_add(g)
        self.rows.assign_add(float(rows))
        self.count += 1
        if self.count == self.window:
            self.flush()

    def flush(self):
        if self.count == 0:
            return
        mean = [buf / self.rows for buf in self.buffers]
        self.optimizer.apply_gradients(zip(mean, self.variables))
        self.count = 0
        for state in [self.rows, *self.buffers]:
            state.assign(tf.zeros_like(state))


net = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(24, activation="tanh", name="hidden"),
    keras.layers.Dense(1, name="out"),
])
bank = GradBank(net, keras.optimizers.SGD(0.1), window=4)

for epoch in range(10):
    total = 0.0
    for xb, yb in micro:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(net(xb, training=True) - yb))     # sum, divided in the bank
        bank.push(tape.gradient(loss, net.trainable_variables), len(xb))
        total += float(loss)
    bank.flush()          # two micro-batches are left over
    left = float(tf.linalg.global_norm([tf.convert_to_tensor(b) for b in bank.buffers]))
    print(f"epoch {epoch}  loss {total / len(X):.4f}  left in the buffers {left:.4f}")
