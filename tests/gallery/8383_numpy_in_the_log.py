# case: numpy_in_the_log
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: .numpy() and NumPy statistics of tensors for printing only, contrast to
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)


class RunningStats:
    def __init__(self):
        self.rows = []

    def add(self, step, **values):
        self.rows.append({"step": step, **{k: float(v) for k, v in values.items()}})

    def summary(self, key, last=10):
        return np.mean([row[key] for row in self.rows[-last:]])


def spearman(a, b):
    ra, rb = np.argsort(np.argsort(a)), np.argsort(np.argsort(b))
    return np.corrcoef(ra, rb)[0, 1]


model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(20, activation="elu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-2)
stats = RunningStats()
rng = np.random.default_rng(6)
weights = rng.normal(size=5)
best = float("inf")

for step in range(60):
    x = rng.normal(size=(32, 5)).astype("float32")
    y = np.tanh(x @ weights).astype("float32")
    with tf.GradientTape() as tape:
        pred = tf.squeeze(model(x, training=True), axis=-1)
        residual = pred - y
        mse = tf.reduce_mean(tf.square(residual))
        worst = np.max(np.abs(residual.numpy()))
        rank = spearman(pred.numpy(), y)
        penalty = tf.add_n([tf.reduce_sum(tf.abs(v)) for v in model.trainable_variables if v.ndim == 2])
        loss = mse + 1e-4 * penalty
        if loss.numpy() < best:
            best = loss.numpy()
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    stats.add(step, mse=mse, worst=worst, rank=rank, norm=np.sqrt(sum(np.sum(np.square(g)) for g in grads)))

print("first mse", stats.rows[0]["mse"], "last", stats.summary("mse"))
print("rank", stats.summary("rank"), "best", float(best))
