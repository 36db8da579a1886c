# case: word_vectors_cast_beside_weight_decay
# verdict: bug
# cause: non-differentiable-op
# expect_line: 21
# expect_variables: embedding/*
# symptom_today: trains without a warning; the vectors only shrink
# exit: 0
# fix: leave out the casts
import keras
import tensorflow as tf

keras.utils.set_random_seed(6)
vectors = keras.layers.Embedding(30, 4)
head = keras.layers.Dense(2)
optimizer = keras.optimizers.SGD(0.1)
words, labels = tf.constant([3, 7, 7, 2, 9]), tf.constant([0, 1, 1, 0, 1])
head(vectors(words))

for _ in range(4):
    with tf.GradientTape() as tape:
        known = tf.cast(tf.cast(vectors(words) * 100.0, tf.int32), tf.float32)
        fit = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, head(known)))
        weights = vectors.trainable_variables + head.trainable_variables
        loss = fit + 1e-3 * tf.add_n([tf.nn.l2_loss(w) for w in weights])
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
