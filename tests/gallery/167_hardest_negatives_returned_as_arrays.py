# case: hardest_negatives_returned_as_arrays
# verdict: bug; static: no
# cause: numpy-escape
# expect_line: 20 43
# expect_variables: embedder/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: let the miner return indices and gather the embeddings with tf.gather
# seen: triplet mining helpers for face embeddings
import keras
import numpy as np
import tensorflow as tf

embedder = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(16, activation="relu"),
                             keras.layers.Dense(4), keras.layers.UnitNormalization()], name="embedder")
opt = keras.optimizers.Adam(1e-3)


def mine(vectors, labels):
    vectors = vectors.numpy()
    anchors, positives, negatives = [], [], []
    for i, label in enumerate(labels):
        distance = ((vectors - vectors[i]) ** 2).sum(axis=1)
        same = [j for j in range(len(labels)) if labels[j] == label and j != i]
        other = [j for j in range(len(labels)) if labels[j] != label]
        if not same:
            continue
        anchors.append(vectors[i])
        positives.append(vectors[max(same, key=lambda j: distance[j])])
        negatives.append(vectors[min(other, key=lambda j: distance[j])])
    return map(tf.convert_to_tensor, (anchors, positives, negatives))


def triplet_loss(a, p, n, margin=0.3):
    return tf.reduce_mean(tf.nn.relu(tf.reduce_sum((a - p) ** 2, -1) - tf.reduce_sum((a - n) ** 2, -1) + margin))


rng = np.random.default_rng(7)
for step in range(2):
    faces, people = rng.normal(size=(12, 10)).astype("float32"), rng.integers(0, 3, 12)
    with tf.GradientTape() as tape:
        vectors = embedder(faces, training=True)
        loss = triplet_loss(*mine(vectors, people))
    opt.apply_gradients(zip(tape.gradient(loss, embedder.trainable_variables), embedder.trainable_variables))
