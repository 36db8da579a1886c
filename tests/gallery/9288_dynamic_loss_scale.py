# case: dynamic_loss_scale
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the scale starts too high on purpose, steps with overflow are skipped and the scale backs off
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(61)


class DynamicLossScale:
    """Halves after an overflow, doubles after `patience` good steps."""

    def __init__(self, initial=2.0 ** 24, patience=40):
        self.value = tf.Variable(initial, trainable=False, name="loss_scale")
        self.good = tf.Variable(0, trainable=False, name="good_steps")
        self.patience = patience

    def scale(self, loss):
        return loss * self.value

    def unscale(self, grads):
        return [tf.cast(g, tf.float32) / self.value for g in grads]

    @staticmethod
    def all_finite(grads):
        return tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in grads])

    def update(self, finite):
        self.good.assign(tf.where(finite, self.good + 1, 0))
        grow = self.good >= self.patience
        factor = tf.where(finite, tf.where(grow, 2.0, 1.0), 0.5)
        self.value.assign(tf.clip_by_value(self.value * factor, 1.0, 2.0 ** 24))
        self.good.assign(tf.where(grow, 0, self.good))


class HalfPrecisionTrainer:
    def __init__(self, model, optimizer, max_norm=1.0):
        self.model, self.optimizer, self.max_norm = model, optimizer, max_norm
        self.optimizer.build(model.trainable_variables)
        self.scaler = DynamicLossScale()
        self.loss_fn = keras.losses.MeanSquaredError()
        self.applied = tf.Variable(0, trainable=False, name="applied_steps")

    def apply(self, grads):
        clipped, _ = tf.clip_by_global_norm(grads, self.max_norm)
        self.optimizer.apply_gradients(zip(clipped, self.model.trainable_variables))
        self.applied.assign_add(1)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            prediction = tf.cast(self.model(x, training=True), tf.float32)
            loss = self.loss_fn(y, prediction)
            scaled = self.scaler.scale(loss)
        grads = self.scaler.unscale(tape.gradient(scaled, self.model.trainable_variables))
        finite = self.scaler.all_finite(grads)
        if finite:
            self.apply(grads)
        self.scaler.update(finite)
        return loss, finite


def build():
    half = keras.mixed_precision.DTypePolicy("mixed_float16")
    return keras.Sequential([
        keras.Input((6,)),
        keras.layers.Dense(32, activation="tanh", dtype=half, name="first"),
        keras.layers.Dense(32, activation="tanh", dtype=half, name="second"),
        keras.layers.Dense(1, dtype=half, name="value"),
    ], name="half")


def make_data(n=768, seed=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6)).astype("float32")
    y = np.sin(x[:, :1] + x[:, 1:2]) + 0.3 * x[:, 2:3] + 0.05 * rng.normal(size=(n, 1))
    return x, y.astype("float32")


x, y = make_data()
trainer = HalfPrecisionTrainer(build(), keras.optimizers.Adam(5e-3))
start = [v.numpy() for v in trainer.model.trainable_variables]
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(768, seed=4).batch(64)
curve, skipped = [], 0
for epoch in range(16):
    losses = []
    for xb, yb in ds:
        loss, finite = trainer.step(xb, yb)
        losses.append(float(loss))
        skipped += not bool(finite)
    curve.append(np.mean(losses))
    if epoch % 3 == 0 or epoch == 15:
        print(f"epoch {epoch:2d}  loss {curve[-1]:.4f}  scale {float(trainer.scaler.value):.0f}  skipped {skipped}")
print("applied", int(trainer.applied), "skipped", skipped)
assert skipped > 0 and int(trainer.applied) > 10 * skipped
assert all(np.isfinite(v.numpy()).all() and not np.allclose(v.numpy(), s)
           for v, s in zip(trainer.model.trainable_variables, start))
assert curve[-1] < 0.4 * curve[0]
