# case: supervised_contrast_of_all_pairs
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (SupCon pattern)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
encoder = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(8)], name="encoder")
opt = keras.optimizers.Adam(3e-3)


def supcon(z, labels, temperature=0.2):
    z = tf.math.l2_normalize(z, axis=-1, epsilon=1e-8)
    sim = tf.matmul(z, z, transpose_b=True) / temperature
    same = tf.cast(labels[:, None] == labels[None, :], tf.float32)
    not_self = 1.0 - tf.eye(tf.shape(z)[0])
    positives = same * not_self
    sim = sim - tf.stop_gradient(tf.reduce_max(sim, axis=1, keepdims=True))
    log_prob = sim - tf.math.log(tf.reduce_sum(tf.exp(sim) * not_self, axis=1, keepdims=True))
    count = tf.reduce_sum(positives, 1)
    per_row = -tf.reduce_sum(positives * log_prob, 1) / tf.maximum(count, 1.0)
    return tf.reduce_sum(per_row * tf.cast(count > 0, tf.float32)) / tf.maximum(tf.reduce_sum(tf.cast(count > 0, tf.float32)), 1.0)


@tf.function(reduce_retracing=True)
def step(x, labels):
    with tf.GradientTape() as tape:
        loss = supcon(encoder(x, training=True), labels)
    grads = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


rng = np.random.default_rng(0)
centres = rng.normal(size=(3, 6))
log = []
for it in range(40):
    labels = rng.integers(0, 3, 24)
    x = tf.constant(centres[labels] + 0.5 * rng.normal(size=(24, 6)), tf.float32)
    log.append(float(step(x, tf.constant(labels))))
print(log[0], log[-1])
assert log[-1] < log[0]
