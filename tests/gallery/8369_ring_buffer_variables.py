# case: ring_buffer_variables
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: storing the interactions of an agent inside tf variables or arrays
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(7)


class RingBuffer(tf.Module):
    def __init__(self, size, width):
        super().__init__()
        self.size = size
        self.inputs = tf.Variable(tf.zeros((size, width)), trainable=False)
        self.targets = tf.Variable(tf.zeros((size,)), trainable=False)
        self.cursor = tf.Variable(0, trainable=False, dtype=tf.int32)
        self.filled = tf.Variable(0, trainable=False, dtype=tf.int32)

    @tf.function
    def add(self, x, y):
        n = tf.shape(x)[0]
        rows = (self.cursor + tf.range(n)) % self.size
        self.inputs.scatter_nd_update(rows[:, None], x)
        self.targets.scatter_nd_update(rows[:, None], y)
        self.cursor.assign((self.cursor + n) % self.size)
        self.filled.assign(tf.minimum(self.filled + n, self.size))

    def sample(self, n):
        rows = tf.random.uniform((n,), 0, self.filled, dtype=tf.int32, seed=3)
        return tf.gather(self.inputs, rows), tf.gather(self.targets, rows)


buffer = RingBuffer(128, 4)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-2)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        x, y = buffer.sample(32)
        loss = tf.reduce_mean(tf.square(model(x)[:, 0] - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


rng = np.random.default_rng(0)
for round_ in range(15):
    x = rng.normal(size=(20, 4)).astype("float32")
    y = (np.sin(x[:, 0]) + 0.5 * x[:, 1]).astype("float32")
    buffer.add(tf.constant(x), tf.constant(y))
    for _ in range(4):
        loss = train_step()
    if round_ % 5 == 0:
        print(round_, int(buffer.filled), float(loss))
print("final", float(loss))
