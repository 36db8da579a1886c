# case: matching_cost_summed_by_numpy
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 24 27
# expect_variables: detector/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: take only the best pairing from NumPy and gather the cost tensor with tf.gather_nd
# source: own words, after set-prediction (DETR-like) TensorFlow ports with the assignment solved outside TensorFlow and its cost returned as the loss
from itertools import permutations

import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
detector = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(5 * 2),
                             keras.layers.Reshape((5, 2))], name="detector")
optimizer = keras.optimizers.AdamW(1e-3)


def set_loss(pred, truth):
    cost = tf.norm(pred[:, None, :] - truth[None, :, :] + 1e-6, axis=-1)
    table = np.asarray(cost)
    rows = np.arange(len(table))
    best = min(permutations(rows), key=lambda cols: table[rows, list(cols)].sum())
    return tf.convert_to_tensor(table[rows, list(best)].sum())


rng = np.random.default_rng(0)
features = tf.constant(rng.normal(size=(4, 8)), tf.float32)
boxes = tf.constant(rng.uniform(size=(4, 5, 2)), tf.float32)
for epoch in range(2):
    with tf.GradientTape() as tape:
        out = detector(features)
        loss = tf.add_n([set_loss(out[i], boxes[i]) for i in range(4)]) / 4.0
    grads = tape.gradient(loss, detector.trainable_variables)
    optimizer.apply_gradients(zip(grads, detector.trainable_variables))
    print(epoch, float(loss))
