# case: pairwise_ranking
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; (n, 1) against (1, n) is meant: all pairs
# exit: 0
# fix: -
# source: own; RankNet loss and a contrastive logit matrix, look-alike of keras-team/keras#14627
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
scorer = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)], name="scorer")
opt = keras.optimizers.Adam(1e-2)


def ranknet(relevance, scores):
    margin = scores - tf.transpose(scores)                      # (n, 1) - (1, n)
    better = tf.cast(relevance[:, None] > relevance[None, :], tf.float32)
    loss = better * tf.nn.softplus(-margin)
    return tf.reduce_sum(loss) / tf.maximum(tf.reduce_sum(better), 1.0)


rng = np.random.default_rng(0)
documents = tf.constant(rng.normal(size=(4, 20, 5)), tf.float32)
relevance = tf.constant(np.clip(np.round(documents.numpy()[..., 0] + 1.5), 0, 4), tf.float32)
losses = []
for epoch in range(25):
    for docs, rel in zip(documents, relevance):
        with tf.GradientTape() as tape:
            loss = ranknet(rel, scorer(docs, training=True))
        grads = tape.gradient(loss, scorer.trainable_variables)
        opt.apply_gradients(zip(grads, scorer.trainable_variables))
        losses.append(float(loss))
assert np.mean(losses[-4:]) < np.mean(losses[:4])
print("ok", np.mean(losses[:4]), np.mean(losses[-4:]))
