# case: alternating_tasks
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: not all variables are connected in each step and zeros are asked for and
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(15)


class MultiTask(keras.Model):
    def __init__(self, tasks):
        super().__init__()
        self.body = keras.layers.Dense(20, activation="relu")
        self.heads = [keras.layers.Dense(1, name=f"head_{t}") for t in range(tasks)]

    def call(self, x, task):
        return self.heads[task](self.body(x))[:, 0]


def task_batch(rng, task, n=24):
    x = rng.normal(size=(n, 5)).astype("float32")
    y = {0: x[:, 0] + x[:, 1], 1: x[:, 2] - x[:, 3], 2: np.abs(x[:, 4])}[task]
    return x, y.astype("float32")


TASKS = 3
model = MultiTask(TASKS)
for t in range(TASKS):
    model(np.zeros((1, 5), "float32"), task=t)
optimizer = keras.optimizers.SGD(0.05)
rng = np.random.default_rng(1)
curves = {t: [] for t in range(TASKS)}

for step in range(90):
    task = step % TASKS
    x, y = task_batch(rng, task)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, task=task) - y))
    sources = [v.value for v in model.trainable_variables]
    grads = tape.gradient(loss, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    grads, norm = tf.clip_by_global_norm(grads, 2.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    curves[task].append(float(loss))

for task, curve in curves.items():
    print("task", task, "first", np.mean(curve[:5]), "last", np.mean(curve[-5:]))
