# case: param_group_buffers
# verdict: bug
# cause: accumulation-not-reset
# expect_line: 68 67 30
# expect_variables: stem/kernel, mixer/kernel
# symptom_today: the loss swings from epoch to epoch instead of falling steadily; the updates of the backbone grow with the length of the run
# exit: 0
# fix: call group.clear() inside the loop over the groups, so that every buffer is emptied after an update
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)
CONFIG = {"micro_batch": 16, "window": 4, "epochs": 5, "lr_backbone": 0.02, "lr_head": 0.05}


class ParamGroup:
    """Variables that share an optimizer, with the running sum of their gradients."""

    def __init__(self, variables, optimizer):
        self.variables = list(variables)
        self.optimizer = optimizer
        self.sums = [tf.Variable(tf.zeros(v.shape), trainable=False, name="sums/" + v.path)
                     for v in self.variables]

    def add(self, grads):
        for total, g in zip(self.sums, grads):
            total.assign_add(g)

    def apply(self, n):
        self.optimizer.apply_gradients([(total / n, v) for total, v in zip(self.sums, self.variables)])

    def clear(self):
        for total in self.sums:
            total.assign(tf.zeros_like(total))


class Trainer:
    def __init__(self, backbone, head, config):
        self.backbone, self.head = backbone, head
        self.window = config["window"]
        self.groups = [
            ParamGroup(backbone.trainable_variables, keras.optimizers.SGD(config["lr_backbone"], momentum=0.5)),
            ParamGroup(head.trainable_variables, keras.optimizers.SGD(config["lr_head"])),
        ]
        self.loss_fn = keras.losses.MeanSquaredError()
        self.pending = 0

    def loss(self, x, y):
        return self.loss_fn(y, self.head(self.backbone(x, training=True), training=True))

    def micro_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(x, y)
        grads = tape.gradient(loss, [g.variables for g in self.groups])
        for group, part in zip(self.groups, grads):
            group.add(part)
        self.pending += 1
        if self.pending == self.window:
            self.flush()
        return float(loss)

    def flush(self):
        for group in self.groups:
            group.apply(self.pending)
        group.clear()
        self.pending = 0

    def fit(self, ds, epochs):
        curve = []
        for _ in range(epochs):
            curve.append(np.mean([self.micro_step(x, y) for x, y in ds]))
        return curve


def make_data(n=512, features=8, seed=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features)).astype("float32")
    y = np.tanh(x[:, :1] - x[:, 1:2]) + 0.5 * x[:, 2:3] + 0.05 * rng.normal(size=(n, 1))
    return x, y.astype("float32")


x, y = make_data()
backbone = keras.Sequential([keras.Input((8,)), keras.layers.Dense(24, activation="tanh", name="stem"),
                             keras.layers.Dense(16, activation="tanh", name="mixer")], name="backbone")
head = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1, name="score")], name="head")
trainer = Trainer(backbone, head, CONFIG)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=1).batch(CONFIG["micro_batch"])
curve = trainer.fit(ds, CONFIG["epochs"])
print("loss per epoch:", np.round(curve, 3))

# what one window would have given by itself, against what the buffers hold at its end
trainer.window = CONFIG["window"] + 1
expected = None
for xb, yb in ds.take(CONFIG["window"]):
    with tf.GradientTape() as tape:
        loss = trainer.loss(xb, yb)
    grads = tape.gradient(loss, [g.variables for g in trainer.groups])
    flat = [g.numpy() for g in tf.nest.flatten(grads)]
    expected = flat if expected is None else [a + b for a, b in zip(expected, flat)]
    for group, part in zip(trainer.groups, grads):
        group.add(part)
held = [s.numpy() for g in trainer.groups for s in g.sums]
ratio = [np.linalg.norm(h) / np.linalg.norm(e) for h, e in zip(held, expected)]
print("held / expected:", np.round(ratio, 2))
n_backbone = len(trainer.groups[0].sums)
assert all(not np.allclose(h, e, rtol=0.2) for h, e in zip(held[:n_backbone], expected[:n_backbone]))
assert all(np.allclose(h, e, atol=1e-4) for h, e in zip(held[n_backbone:], expected[n_backbone:]))
