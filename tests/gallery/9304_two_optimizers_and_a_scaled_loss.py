# case: float16_manual_scale_two_optimizers
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none, a fixed loss scale is put on and taken off by hand, two optimizers share the model, all weights move
# exit: 0
# fix: -
# source: keras-team/keras issue 20894 (get_scaled_loss and get_unscaled_gradients are gone in Keras 3), solved by scaling by hand
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(90)
keras.mixed_precision.set_global_policy("mixed_float16")
SCALE = 1024.0


def signal_set(n, seed):
    """Short signals in which a pulse of one of three shapes sits at a random place."""
    r = np.random.default_rng(seed)
    kinds = np.array([[1, 2, 1, 0, 0], [1, -1, 1, -1, 1], [-1, -1, 0, 1, 1]], "float32")
    y = r.integers(0, 3, n)
    x = 0.25 * r.normal(size=(n, 24))
    at = r.integers(0, 19, n)
    for i in range(n):
        x[i, at[i]:at[i] + 5] += kinds[y[i]]
    return x[..., None].astype("float32"), y.astype("int32")


backbone = keras.Sequential(
    [
        keras.Input((24, 1)),
        layers.Conv1D(12, 5, padding="same", activation="relu", name="conv"),
        layers.GlobalMaxPooling1D(),
    ],
    name="backbone",
)
head = keras.Sequential(
    [
        keras.Input((12,)),
        layers.Dense(24, activation="relu", name="mid"),
        layers.Dense(3, dtype="float32", name="logits"),
    ],
    name="head",
)

slow = keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True)
fast = keras.optimizers.Adam(3e-3)
slow.build(backbone.trainable_variables)
fast.build(head.trainable_variables)
skipped = tf.Variable(0, dtype=tf.int32, trainable=False)


def unscale(grads):
    return [tf.cast(g, tf.float32) / SCALE for g in grads]


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = head(backbone(x, training=True), training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        scaled = loss * SCALE
    gb, gh = tape.gradient(scaled, (backbone.trainable_variables, head.trainable_variables))
    gb, gh = unscale(gb), unscale(gh)
    fine = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in gb + gh])
    if fine:
        slow.apply_gradients(zip(gb, backbone.trainable_variables))
        fast.apply_gradients(zip(gh, head.trainable_variables))
    else:
        skipped.assign_add(1)
    return loss


x, y = signal_set(1024, 0)
xt, yt = signal_set(300, 1)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024, seed=0).batch(64)
start = [v.numpy().copy() for v in backbone.trainable_variables + head.trainable_variables]

per_epoch = []
for epoch in range(8):
    per_epoch.append(float(np.mean([train_step(a, b).numpy() for a, b in ds])))
acc = (head(backbone(xt, training=False), training=False).numpy().argmax(1) == yt).mean()
print("loss", np.round(per_epoch, 3), "accuracy", acc, "skipped", int(skipped))

assert per_epoch[-1] < 0.4 * per_epoch[0] and acc > 0.9 and int(skipped) == 0
for v, s in zip(backbone.trainable_variables + head.trainable_variables, start):
    assert v.dtype == "float32"
    assert np.abs(v.numpy() - s).max() > 1e-3, v.path
