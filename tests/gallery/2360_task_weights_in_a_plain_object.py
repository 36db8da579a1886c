# case: balanced_tasks
# verdict: bug
# cause: untracked-variable
# expect_line: 40 65 82
# expect_variables: log_var_price, log_var_days
# symptom_today: both tasks train, but the weights of the tasks stay 1 : 1 for ever
# exit: 0
# fix: make TaskBalance a keras.layers.Layer that owns them by add_weight, or add its variables to the list
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(29)

TASKS = ("price", "days")
NOISE = {"price": 0.1, "days": 0.9}
BATCH, EPOCHS = 64, 5


def listings(n, seed):
    """Flats: the price follows from the features, the days on the market hardly do."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 8)).astype("float32")
    common = np.tanh(x[:, 0] + 0.5 * x[:, 1])
    y = {
        "price": common + 0.4 * x[:, 2],
        "days": 0.5 * x[:, 3] * x[:, 4] - 0.4 * common,
    }
    y = {k: (v + NOISE[k] * rng.normal(size=n)).astype("float32") for k, v in y.items()}
    return x, y


class TaskBalance:
    """Weighs each task by its own learned noise level: exp(-s) * loss + s."""

    def __init__(self, tasks):
        self.log_vars = {t: tf.Variable(0.0, name="log_var_" + t) for t in tasks}

    def __call__(self, losses):
        total = 0.0
        for task, loss in losses.items():
            s = self.log_vars[task]
            total += tf.exp(-s) * loss + s
        return total

    def report(self):
        return {t: round(float(tf.exp(-s)), 3) for t, s in self.log_vars.items()}


class ListingModel(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.trunk = keras.Sequential(
            [
                layers.Dense(32, activation="gelu", name="trunk_1"),
                layers.LayerNormalization(name="trunk_norm"),
                layers.Dense(24, activation="gelu", name="trunk_2"),
            ],
            name="trunk",
        )
        self.heads = {t: layers.Dense(1, name=t + "_head") for t in TASKS}
        self.balance = TaskBalance(TASKS)

    def call(self, x, training=None):
        h = self.trunk(x, training=training)
        return {t: tf.squeeze(head(h), axis=-1) for t, head in self.heads.items()}

    def losses_by_task(self, x, y, training):
        predictions = self(x, training=training)
        return {t: tf.reduce_mean(tf.square(y[t] - predictions[t])) for t in TASKS}


def run_epoch(model, dataset, optimizer):
    sums, steps = dict.fromkeys(TASKS, 0.0), 0
    for x, y in dataset:
        with tf.GradientTape() as tape:
            losses = model.losses_by_task(x, y, training=True)
            total = model.balance(losses)
        variables = model.trainable_variables
        grads = tape.gradient(total, variables)
        optimizer.apply_gradients(zip(grads, variables))
        for task in TASKS:
            sums[task] += float(losses[task])
        steps += 1
    return {t: s / steps for t, s in sums.items()}


x_train, y_train = listings(1280, seed=1)
dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2048, seed=5).batch(BATCH)
model = ListingModel(name="listing")
model(x_train[:2])
schedule = keras.optimizers.schedules.CosineDecay(1e-2, decay_steps=EPOCHS * 20, alpha=0.1)
optimizer = keras.optimizers.Adam(schedule)

curve = []
for epoch in range(EPOCHS):
    curve.append(run_epoch(model, dataset, optimizer))
    print(f"epoch {epoch}  " + "  ".join(f"{t} {v:.3f}" for t, v in curve[-1].items()),
          " weights", model.balance.report())

assert curve[-1]["price"] < 0.3 * curve[0]["price"]
# the best s is the logarithm of the loss of the task: far from 0 for the price
x, y = x_train[:256], {t: v[:256] for t, v in y_train.items()}
log_vars = list(model.balance.log_vars.values())
losses = model.losses_by_task(x, y, training=False)
slopes = [1.0 - float(losses[t]) * float(tf.exp(-s)) for t, s in zip(TASKS, log_vars)]
print("gradients of the task weights", slopes)
assert slopes[0] > 0.5 and all(float(s) == 0.0 for s in log_vars)
assert not any(v is s for v in model.trainable_variables for s in log_vars)
