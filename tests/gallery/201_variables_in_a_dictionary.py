# case: variables_in_a_dictionary
# verdict: bug; static: yes
# cause: untracked-variable
# expect_line: 18 22
# expect_variables: task_a, task_b
# symptom_today: silent: loss falls through the head alone; the table never changes
# exit: 0
# fix: self.add_weight for each entry
# seen: Keras 2 code with tf.Variable dictionaries, run on Keras 3
import keras
import numpy as np
import tensorflow as tf


class PerTask(keras.Model):
    def __init__(self, tasks=("a", "b")):
        super().__init__()
        self.table = {t: tf.Variable(tf.random.normal((4, 3), seed=k), name=f"task_{t}") for k, t in enumerate(tasks)}
        self.head = keras.layers.Dense(1)

    def call(self, x):
        mixed = sum(tf.matmul(x, m) for m in self.table.values())
        return self.head(mixed)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"error": loss}


net = PerTask()
net.compile(optimizer=keras.optimizers.Adam(0.05))
x = np.random.default_rng(0).normal(size=(50, 4)).astype("float32")
first = net.table["a"].numpy().copy()
log = net.fit(x, x[:, 1:2] * 3, epochs=3, verbose=0).history["error"]
print(log)
assert log[-1] < log[0] and np.array_equal(first, net.table["a"].numpy())
