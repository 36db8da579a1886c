# case: ragged_bag_of_words
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: tensorflow/tensorflow#27776 (gradients through ragged embeddings)
import numpy as np
import tensorflow as tf
import keras

tf.random.set_seed(0)
table = tf.Variable(tf.random.normal((50, 6), stddev=0.1, seed=0), name="table")
kernel = tf.Variable(tf.random.normal((6, 1), seed=1), name="kernel")
opt = keras.optimizers.Adam(2e-2)

sentences = ["the cat sat", "a dog barked at the cat", "no animals here", "cat", "we saw one dog", "plain text only"]
has_cat = tf.constant([[1.0], [1.0], [0.0], [1.0], [0.0], [0.0]])
words = tf.strings.split(tf.constant(sentences))
ids = tf.ragged.map_flat_values(tf.strings.to_hash_bucket_fast, words, 50)


def logits():
    vectors = tf.ragged.map_flat_values(lambda flat: tf.gather(table, flat), ids)      # strings and ids have no gradient; the table has
    return tf.matmul(tf.reduce_mean(vectors, axis=1), kernel)


losses = []
for step in range(40):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(has_cat, logits()))
    grads = tape.gradient(loss, [table, kernel])
    assert all(g is not None for g in grads)
    opt.apply_gradients(zip(grads, [table, kernel]))
    losses.append(float(loss))
assert losses[-1] < 0.5 * losses[0]
print("ok", losses[0], losses[-1])
