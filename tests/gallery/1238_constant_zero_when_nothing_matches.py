# case: constant_zero_when_nothing_matches
# verdict: bug; static: no
# cause: constant-target
# expect_line: 22 33 34
# expect_variables: head/* (in the batch without an object)
# symptom_today: raises ValueError: No gradients provided for any variable, at the first batch without an object
# exit: 1 (ValueError)
# fix: return 0.0 * tf.reduce_sum(pred) (or skip the update) when nothing matches, not a new constant
# source: dmlc/gluon-cv#627 and open-mmlab/mmpretrain#1426 (dummy zero loss without graph), dvornikita/blitznet#13
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
head = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4)], name="head")
opt = keras.optimizers.Adam(1e-3)


def box_loss(pred, target, has_object):
    count = int(tf.reduce_sum(tf.cast(has_object, tf.int32)))
    if count == 0:
        return tf.constant(0.0)
    diff = tf.boolean_mask(pred - target, has_object)
    return tf.reduce_sum(tf.abs(diff)) / count


rng = np.random.default_rng(3)
for step in range(6):
    feats = tf.constant(rng.normal(size=(4, 6)), tf.float32)
    boxes = tf.constant(rng.uniform(size=(4, 4)), tf.float32)
    has_object = tf.constant(rng.uniform(size=4) < (0.0 if step == 3 else 0.9))
    with tf.GradientTape() as tape:
        loss = box_loss(head(feats, training=True), boxes, has_object)
    grads = tape.gradient(loss, head.trainable_variables)
    opt.apply_gradients(zip(grads, head.trainable_variables))
    print(step, float(loss))
