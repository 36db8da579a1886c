# case: likelihood_by_dataset_reduce
# verdict: bug; static: no
# cause: state-boundary
# expect_line: 28
# expect_variables: slope, offset
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: batch the rows and sum the terms in TensorFlow ops, not inside tf.data
# source: tensorflow/tensorflow#36306 (gradient is None when the loss is dataset.reduce(...))
import numpy as np
import tensorflow as tf
import keras


class PoissonRate(tf.Module):
    def __init__(self):
        super().__init__(name="poisson_rate")
        self.slope = tf.Variable(0.1, name="slope")
        self.offset = tf.Variable(0.0, name="offset")

    def negative_log_likelihood(self, row):
        log_rate = self.slope * row["x"] + self.offset
        return tf.exp(log_rate) - row["count"] * log_rate


def total_nll(model, rows):
    start = tf.constant(0.0)
    return rows.reduce(start, lambda acc, row: acc + model.negative_log_likelihood(row))


rng = np.random.default_rng(5)
x = rng.uniform(-1, 1, size=40).astype("float32")
counts = rng.poisson(np.exp(0.8 * x + 0.3)).astype("float32")
rows = tf.data.Dataset.from_tensor_slices({"x": x, "count": counts})

model = PoissonRate()
opt = keras.optimizers.SGD(1e-2)
for step in range(5):
    with tf.GradientTape() as tape:
        nll = total_nll(model, rows) / len(x)
    grads = tape.gradient(nll, model.trainable_variables)
    print(step, float(nll), grads)
    opt.apply_gradients(zip(grads, model.trainable_variables))
