# case: virtual_batch_loss_sum
# verdict: bug
# cause: accumulation-loss-carried-over
# expect_line: 29 31
# expect_variables: -
# symptom_today: adding up the losses over several steps instead of the gradients and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(6)
VIRTUAL = 4


class VirtualBatch:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.step = 0
        self.total_loss = 0.0

    def train_on_batch(self, x, y):
        self.step += 1
        with tf.GradientTape() as tape:
            pred = self.model(x, training=True)
            loss = tf.reduce_mean(tf.square(pred - y)) / VIRTUAL
            self.total_loss = self.total_loss + loss
        if self.step % VIRTUAL == 0:
            grads = tape.gradient(self.total_loss, self.model.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
            mean = float(self.total_loss)
            self.total_loss = 0.0
            return mean
        return None


def boards(n=256):
    rng = np.random.default_rng(9)
    kind = np.arange(n) % VIRTUAL
    x = rng.normal(size=(n, 4)).astype("float32")
    x[np.arange(n), kind] += 3.0
    y = x[:, :1] - 2.0 * x[:, 1:2] + 0.5 * x[:, 2:3]
    order = np.argsort(kind.reshape(-1, 64), axis=1, kind="stable") + 64 * np.arange(n // 64)[:, None]
    return x[order.ravel()], y[order.ravel()]


net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
runner = VirtualBatch(net, keras.optimizers.Adam(5e-3))
x, y = boards()
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
for epoch in range(5):
    values = [runner.train_on_batch(a, b) for a, b in data]
    print(epoch, [round(v, 3) for v in values if v is not None])
