# case: missing_assays
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; missing targets are NaN in the data, and masked before they can reach the loss
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(74)

ASSAYS = 5
CONFIG = {"features": 14, "batch": 16, "epochs": 10, "lr": 3e-3, "weight_decay": 1e-4}


def compounds(n, seed):
    """Every assay has been run for some of the compounds; the last one for very few."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, CONFIG["features"]))
    shared = np.random.default_rng(0)
    common = np.tanh(x @ shared.normal(size=(CONFIG["features"], 4)) / 2.0)
    y = common @ shared.normal(size=(4, ASSAYS)) / 2.0 + 0.1 * rng.normal(size=(n, ASSAYS))
    measured = rng.uniform(size=y.shape) < np.array([0.9, 0.6, 0.5, 0.4, 0.04])
    return x.astype("float32"), np.where(measured, y, np.nan).astype("float32"), y.astype("float32")


def masked_mse(target, prediction):
    """Mean over the measured rows per assay, then over the assays that have any."""
    known = tf.math.is_finite(target)
    safe = tf.where(known, target, tf.zeros_like(target))
    weight = tf.cast(known, prediction.dtype)
    count = tf.reduce_sum(weight, axis=0)
    error = tf.reduce_sum(weight * tf.square(prediction - safe), axis=0)
    per_assay = tf.math.divide_no_nan(error, count)
    present = tf.cast(count > 0, prediction.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(per_assay * present), tf.reduce_sum(present)), count


class AssayNet(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        decay = keras.regularizers.L2(CONFIG["weight_decay"])
        self.first = layers.Dense(48, activation="gelu", kernel_regularizer=decay, name="first")
        self.norm = layers.LayerNormalization(name="norm")
        self.second = layers.Dense(32, activation="gelu", kernel_regularizer=decay, name="second")
        self.towers = [layers.Dense(1, name=f"assay_{k}") for k in range(ASSAYS)]

    def call(self, x, training=None):
        h = self.second(self.norm(self.first(x)))
        return tf.concat([tower(h) for tower in self.towers], axis=1)


model = AssayNet(name="assays")
model(tf.zeros((1, CONFIG["features"])))
optimizer = keras.optimizers.Adam(CONFIG["lr"])
seen = tf.Variable(tf.zeros(ASSAYS), trainable=False, name="seen")
loss_mean = keras.metrics.Mean()


@tf.function
def train_step(x, target):
    with tf.GradientTape() as tape:
        loss, count = masked_mse(target, model(x, training=True))
        total = loss + tf.add_n(model.losses)
    grads = tape.gradient(total, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    seen.assign_add(count)
    loss_mean.update_state(loss)
    return count


x_train, y_train, _ = compounds(800, seed=1)
x_test, _, y_test = compounds(300, seed=2)
batches = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024, seed=3).batch(CONFIG["batch"])

curve, empty = [], 0
for epoch in range(CONFIG["epochs"]):
    loss_mean.reset_state()
    for x, target in batches:
        empty += int(np.any(train_step(x, target).numpy() == 0))
    curve.append(float(loss_mean.result()))
    test = np.mean((model(x_test, training=False).numpy() - y_test) ** 2, axis=0)
    print(f"epoch {epoch}  loss {curve[-1]:.4f}  test", np.round(test, 3))

print("measurements used", seen.numpy().astype(int), " batches that lack an assay", empty)
assert np.isnan(y_train).any() and empty > 50
assert all(np.isfinite(v.numpy()).all() for v in model.trainable_variables)
assert curve[-1] < 0.3 * curve[0]
assert np.all(test[:4] < 0.5 * y_test.var(axis=0)[:4])
