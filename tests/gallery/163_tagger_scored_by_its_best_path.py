# case: tagger_scored_by_its_best_path
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 26 28 38
# expect_variables: emissions/*, transitions
# symptom_today: gradients are None; apply_gradients raises ValueError
# exit: 1 (ValueError)
# fix: the log-likelihood (forward algorithm) is the loss, the best path is for decoding
# seen: sequence taggers with a conditional random field on top
import keras
import tensorflow as tf

TAGS = 4
emissions = keras.Sequential(
    [keras.layers.Embedding(20, 8), keras.layers.Bidirectional(keras.layers.SimpleRNN(6, return_sequences=True)),
     keras.layers.Dense(TAGS)], name="emissions")
transitions = tf.Variable(tf.random.normal((TAGS, TAGS), seed=1), name="transitions")
opt = keras.optimizers.Adam(0.01)


def viterbi(scores):
    steps = scores.shape[1]
    best, back = scores[:, 0], []
    for t in range(1, steps):
        options = best[:, :, None] + transitions[None]
        back.append(tf.argmax(options, axis=1))
        best = tf.reduce_max(options, axis=1) + scores[:, t]
    tag = tf.argmax(best, axis=-1)
    path = [tag]
    for pointers in reversed(back):
        tag = tf.gather(pointers, tag, batch_dims=1)
        path.append(tag)
    return tf.stack(path[::-1], axis=1)


def tag_loss(words, tags):
    path = viterbi(emissions(words, training=True))
    wrong = tf.cast(tf.not_equal(path, tags), tf.float32)
    return tf.reduce_mean(wrong)


words = tf.random.uniform((6, 7), 0, 20, dtype=tf.int64, seed=2)
tags = words % TAGS
for epoch in range(2):
    with tf.GradientTape() as tape:
        loss = tag_loss(words, tags)
    variables = emissions.trainable_variables + [transitions]
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
