# case: tiny_epsilon_under_mixed_precision
# verdict: bug; static: no
# cause: nan-float16 | nan-division | nan-log
# expect_line: 28 35
# expect_variables: *
# symptom_today: silent: 1e-8 is zero in float16, the empty mask gives 0 / 0
# exit: 0
# fix: compute the overlap in float32, or use an epsilon that float16 can hold
# seen: overlap losses in segmentation after switching on mixed precision
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_float16")
unet = keras.Sequential([
    keras.layers.Input((8, 8, 1)),
    keras.layers.Conv2D(4, 3, padding="same", activation="relu"),
    keras.layers.Conv2D(1, 1, activation="relu"),
])
opt = keras.optimizers.SGD(0.01)


def overlap_loss(masks, predicted, eps=1e-8):
    masks = tf.cast(masks, predicted.dtype)
    both = tf.reduce_sum(masks * predicted, axis=[1, 2, 3])
    total = tf.reduce_sum(masks, axis=[1, 2, 3]) + tf.reduce_sum(predicted, axis=[1, 2, 3])
    return 1.0 - tf.reduce_mean((2.0 * both + eps) / (total + eps))


scans = np.random.default_rng(0).random((4, 8, 8, 1), dtype="float32")
masks = (scans > 0.8).astype("float32")
scans[2], masks[2] = 0.0, 0.0  # a healthy patient
with tf.GradientTape() as tape:
    loss = overlap_loss(masks, unet(scans, training=True))
grads = tape.gradient(loss, unet.trainable_variables)
opt.apply_gradients(zip(grads, unet.trainable_variables))
assert np.isnan(float(loss))
