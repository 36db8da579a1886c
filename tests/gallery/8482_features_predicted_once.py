# case: leaf_bottleneck
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: predict() gives the features of the frozen base, and only the new head is asked for and trained
# exit: 0
# fix: -
#
# Transfer learning: the base learned the leaf shape (4 kinds); its features, computed once, are used for "ill or not".
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(51)
rng = np.random.default_rng(51)
MIX = rng.normal(0, 0.4, (6, 18))


def leaves(n):
    shape = rng.normal(0, 1, (n, 6))
    meas = np.tanh(shape @ MIX) + rng.normal(0, 0.05, (n, 18))
    kind = 2 * (shape[:, 0] > 0) + (shape[:, 1] > 0)
    ill = (shape[:, 0] + shape[:, 1] > 0.0)
    return meas.astype("float32"), kind.astype("int32"), ill.astype("float32")[:, None]


# --- the "pretrained" network ------------------------------------------------
base = keras.Sequential([keras.Input((18,)),
                         layers.Dense(32, activation="tanh", name="base_a"),
                         layers.Dense(24, activation="tanh", name="base_b")], name="base")
old_task = keras.Sequential([base, layers.Dense(4)])
old_task.compile(keras.optimizers.Adam(0.01),
                 loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x_old, kind_old, _ = leaves(256)
h = old_task.fit(x_old, kind_old, epochs=6, batch_size=32, verbose=0)
print("pretraining", [round(v, 3) for v in h.history["loss"]])

# --- the new task --------------------------------------------------------------
base.trainable = False
head = keras.Sequential([keras.Input((24,)), layers.Dense(12, activation="tanh", name="mix"),
                         layers.Dense(1, name="verdict")], name="head")
bce = keras.losses.BinaryCrossentropy(from_logits=True)
opt = keras.optimizers.Adam(0.01)
x, _, ill = leaves(256)


def bottleneck(batch):
    """Features of the pretrained base, as in the first part of the tutorial."""
    return base.predict(batch, verbose=0)


cached = bottleneck(x)
variables = base.trainable_variables + head.trainable_variables     # the first list is empty: frozen
for epoch in range(6):
    order = rng.permutation(len(x))
    for s in range(0, len(x), 64):
        rows = order[s:s + 64]
        with tf.GradientTape() as tape:
            logits = head(cached[rows], training=True)
            loss = bce(ill[rows], logits)
        grads = tape.gradient(loss, variables)
        opt.apply_gradients(zip(grads, variables))
    print(f"epoch {epoch}  loss {float(loss):.4f}")
right = np.mean((head(cached).numpy() > 0) == (ill > 0.5))
print("share of leaves told right:", round(float(right), 3))
