# case: leaf_finetune
# verdict: bug
# cause: numpy-escape
# expect_line: 49 58
# expect_variables: base_a/*, base_b/*
# symptom_today: a warning that gradients do not exist for the base, which stays exactly as it was; only the head learns
# exit: 0
# fix: return base(batch, training=True) instead of base.predict_on_batch(batch)
#
# Transfer learning: the base learned the leaf shape (4 kinds), now it is fine-tuned for "ill or not".
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(50)
rng = np.random.default_rng(50)
MIX = rng.normal(0, 0.4, (6, 18))


def leaves(n):
    shape = rng.normal(0, 1, (n, 6))
    meas = np.tanh(shape @ MIX) + rng.normal(0, 0.05, (n, 18))
    kind = 2 * (shape[:, 0] > 0) + (shape[:, 1] > 0)
    ill = (shape[:, 2] > 0.0)
    return meas.astype("float32"), kind.astype("int32"), ill.astype("float32")[:, None]


# --- the "pretrained" network ------------------------------------------------
base = keras.Sequential([keras.Input((18,)),
                         layers.Dense(32, activation="tanh", name="base_a"),
                         layers.Dense(24, activation="tanh", name="base_b")], name="base")
old_task = keras.Sequential([base, layers.Dense(4)])
old_task.compile(keras.optimizers.Adam(0.01),
                 loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x_old, kind_old, _ = leaves(256)
h = old_task.fit(x_old, kind_old, epochs=4, batch_size=32, verbose=0)
print("pretraining", [round(v, 3) for v in h.history["loss"]])

# --- the new task --------------------------------------------------------------
head = keras.Sequential([keras.Input((24,)), layers.Dense(1, name="verdict")], name="head")
bce = keras.losses.BinaryCrossentropy(from_logits=True)
opt = keras.optimizers.Adam(0.005)
x, _, ill = leaves(256)


def bottleneck(batch):
    """Features of the pretrained base, as in the first part of the tutorial."""
    return base.predict_on_batch(batch)


variables = base.trainable_variables + head.trainable_variables
base_before = [w.copy() for w in base.get_weights()]
for epoch in range(6):
    for s in range(0, len(x), 64):
        xb, yb = x[s:s + 64], ill[s:s + 64]
        with tf.GradientTape() as tape:
            feats = bottleneck(xb)
            logits = head(feats, training=True)
            loss = bce(yb, logits)
        grads = tape.gradient(loss, variables)
        opt.apply_gradients(zip(grads, variables))
    print(f"epoch {epoch}  loss {float(loss):.4f}")
print("change of the base:", [float(np.abs(a - b).max()) for a, b in zip(base_before, base.get_weights())])
