# case: prototype_of_absent_class
# verdict: bug; static: no
# cause: nan-empty-reduce
# expect_line: 27
# expect_variables: encoder/* (NaN)
# symptom_today: silent: loss nan as soon as one episode lacks a class
# exit: 0
# fix: draw episodes that hold every class, or leave absent classes out (tf.math.divide_no_nan of sum and count, and mask the logit)
# source: derived from matterport/Mask_RCNN#1930 (mean of a gathered selection needs the guard for an empty one) and HobbitLong/SupContrast#141 (no member of the class in the batch: NaN)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)
CLASSES = 4
encoder = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(5)], name="encoder")
opt = keras.optimizers.Adam(1e-2)
rng = np.random.default_rng(3)


def episode(support_size):
    labels = rng.integers(0, CLASSES, size=support_size)
    return tf.constant(rng.normal(size=(support_size, 6)) + labels[:, None], tf.float32), tf.constant(labels)


def prototypes(embedded, labels):
    return tf.stack([tf.reduce_mean(tf.boolean_mask(embedded, labels == c), axis=0) for c in range(CLASSES)])


def episode_loss(support, support_labels, query, query_labels):
    centres = prototypes(encoder(support), support_labels)
    distance = tf.reduce_sum(tf.square(encoder(query)[:, None, :] - centres[None, :, :]), axis=-1)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=query_labels, logits=-distance))


for size in (24, 3, 24):
    with tf.GradientTape() as tape:
        loss = episode_loss(*episode(size), *episode(16))
    grads = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(grads, encoder.trainable_variables))
    print("support", size, "loss", float(loss))
assert np.isnan(float(loss))
