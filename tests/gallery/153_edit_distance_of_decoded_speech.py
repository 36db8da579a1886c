# case: edit_distance_of_decoded_speech
# verdict: bug; static: yes
# cause: non-differentiable-op
# expect_line: 30 31
# expect_variables: acoustic/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: train with tf.nn.ctc_loss, keep the edit distance as a metric
# seen: label error rate used as the training objective
import numpy as np
import tensorflow as tf
import keras

SYMBOLS = 5
acoustic = keras.Sequential(
    [keras.layers.Input((10, 3)), keras.layers.GRU(8, return_sequences=True), keras.layers.Dense(SYMBOLS)],
    name="acoustic",
)
optimizer = keras.optimizers.Adam(1e-3)


def to_sparse(dense):
    where = tf.where(dense > -1)
    return tf.SparseTensor(where, tf.gather_nd(dense, where), tf.cast(tf.shape(dense), tf.int64))


def label_error_rate(logits, labels):
    time_major = tf.transpose(logits, [1, 0, 2])
    lengths = tf.fill([tf.shape(logits)[0]], tf.shape(logits)[1])
    decoded, _ = tf.nn.ctc_greedy_decoder(time_major, lengths)
    distance = tf.edit_distance(tf.cast(decoded[0], tf.int64), labels, normalize=True)
    return tf.reduce_mean(distance)


def train_step(sound, labels):
    with tf.GradientTape() as tape:
        loss = label_error_rate(acoustic(sound, training=True), labels)
    grads = tape.gradient(loss, acoustic.trainable_variables)
    optimizer.apply_gradients(zip(grads, acoustic.trainable_variables))
    return loss


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    sound = tf.constant(rng.normal(size=(4, 10, 3)), tf.float32)
    words = to_sparse(tf.constant(rng.integers(0, SYMBOLS - 1, size=(4, 3)), tf.int64))
    for epoch in range(2):
        print(epoch, float(train_step(sound, words)))
