# case: zero_width_box_and_global_clipnorm
# verdict: bug; static: no
# cause: nan-log | nan-clip
# expect_line: 23 18 43
# expect_variables: backbone/*, box/*, score/* (all NaN: the global norm spreads what only the box head produced)
# symptom_today: silent: every weight nan after the batch with the degenerate box
# exit: 0
# fix: drop boxes without width, or tf.math.log(tf.maximum(size, 1e-3))
# source: keras-team/keras#14075 (clipping by norm with a non-finite norm spoils the gradients), tensorflow/tensorflow PR#27733 (clip_by_global_norm returns all NaN when the norm is infinite), squeezeDet port omni-us/squeezedet-keras#29 (detector loss nan)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
backbone = keras.layers.Dense(16, activation="relu", name="backbone")
box_head = keras.layers.Dense(2, name="box")
score_head = keras.layers.Dense(1, name="score")
opt = keras.optimizers.Adam(1e-3, global_clipnorm=1.0)
ANCHOR = 32.0


def box_target(sizes):
    return tf.math.log(sizes / ANCHOR)


def detector_loss(crops, sizes, is_object):
    features = backbone(crops)
    size_error = tf.reduce_mean(tf.square(box_head(features) - box_target(sizes)))
    score_error = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=is_object, logits=score_head(features)))
    return size_error + score_error


rng = np.random.default_rng(0)
crops = rng.normal(size=(48, 10)).astype("float32")
sizes = rng.uniform(8, 64, size=(48, 2)).astype("float32")
sizes[37, 0] = 0.0                                        # an annotator clicked twice on the same spot
labels = rng.integers(0, 2, size=(48, 1)).astype("float32")
batches = tf.data.Dataset.from_tensor_slices((crops, sizes, labels)).batch(12)
for crop, size, label in batches:
    with tf.GradientTape() as tape:
        loss = detector_loss(crop, size, label)
    params = backbone.trainable_variables + box_head.trainable_variables + score_head.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    print("loss", float(loss), "score head finite:", bool(np.isfinite(score_head.kernel.numpy()).all()))
assert np.isnan(score_head.kernel.numpy()).any()
