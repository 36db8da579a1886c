# case: flush_keeps_rest
# verdict: bug
# cause: accumulation-not-reset
# expect_line: 46 47 48 65
# expect_variables: -
# symptom_today: the first update of each epoch is too large; the accumulators are not zero after the flush
# exit: 0
# fix: set every buffer to zero (and not only the counter) at the end of flush()
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(31)

X = np.random.normal(size=(160, 8)).astype("float32")
Y = (np.cos(X[:, :1]) + 0.7 * X[:, 1:2]).astype("float32")
Y = (Y - Y.mean()) / Y.std()
micro = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(160, seed=3).batch(16)   # 10 micro-batches


class GradBank:
    """Collects the gradients of `window` micro-batches and then updates once."""

    def __init__(self, model, optimizer, window):
        self.variables = model.trainable_variables
        self.optimizer = optimizer
        self.window = window
        self.count = 0
        self.buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.variables]

    def push(self, grads):
        for buf, g in zip(self.buffers, grads):
            buf.assign_add(g)
        self.count += 1
        if self.count == self.window:
            mean = [buf / self.window for buf in self.buffers]
            self.optimizer.apply_gradients(zip(mean, self.variables))
            for buf in self.buffers:
                buf.assign(tf.zeros_like(buf))
            self.count = 0

    def flush(self):
        # 10 is no multiple of 4, the last two batches of an epoch would be lost otherwise
        if self.count == 0:
            return
        rest = [buf / self.count for buf in self.buffers]
        self.optimizer.apply_gradients(zip(rest, self.variables))
        self.count = 0


net = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(24, activation="tanh", name="hidden"),
    keras.layers.Dense(1, name="out"),
])
bank = GradBank(net, keras.optimizers.SGD(0.1), window=4)

for epoch in range(8):
    losses = []
    for xb, yb in micro:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(xb, training=True) - yb))
        bank.push(tape.gradient(loss, net.trainable_variables))
        losses.append(float(loss))
    bank.flush()
    left = float(tf.linalg.global_norm([tf.convert_to_tensor(b) for b in bank.buffers]))
    print(f"epoch {epoch}  loss {np.mean(losses):.4f}  left in the buffers {left:.4f}")
