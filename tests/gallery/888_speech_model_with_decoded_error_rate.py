# case: speech_model_with_decoded_error_rate
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: connectionist temporal classification, the edit distance as a report only
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
SYMBOLS = 5
recurrent = keras.layers.Bidirectional(keras.layers.GRU(8, return_sequences=True))
net = keras.Sequential([keras.layers.Input((12, 3)), recurrent, keras.layers.Dense(SYMBOLS)])
opt = keras.optimizers.Adam(0.02)


@tf.function
def step(sound, labels):
    batch = tf.shape(sound)[0]
    frames, length = tf.fill([batch], 12), tf.fill([batch], 3)
    with tf.GradientTape() as tape:
        logits = tf.transpose(net(sound, training=True), [1, 0, 2])
        loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, length, frames, blank_index=SYMBOLS - 1))
        (found,), _ = tf.nn.ctc_greedy_decoder(logits, frames)
        found = tf.SparseTensor(found.indices, tf.cast(found.values, tf.int32) + 1, found.dense_shape)
        error = tf.reduce_mean(tf.edit_distance(found, tf.sparse.from_dense(labels + 1)))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss, error


rng = np.random.default_rng(3)
sound = tf.constant(rng.normal(size=(6, 12, 3)), tf.float32)
labels = tf.constant(rng.integers(0, SYMBOLS - 1, size=(6, 3)), tf.int32)
results = [step(sound, labels) for _ in range(8)]
print([float(r[0]) for r in results])
assert results[-1][0] < results[0][0]
