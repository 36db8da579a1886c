# case: siamese_views_with_rotation_task
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: SimSiam with a pretext task beside it and weight decay in the loss
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(36)
encoder = keras.Sequential(
    [layers.Input((12,)), layers.Dense(24), layers.LayerNormalization(), layers.Activation("gelu"), layers.Dense(8)],
    name="encoder")
predictor = keras.Sequential([layers.Input((8,)), layers.Dense(6, activation="gelu"), layers.Dense(8)], name="predictor")
shift_head = keras.Sequential([layers.Input((8,)), layers.Dense(3)], name="shift_head")
variables = encoder.trainable_variables + predictor.trainable_variables + shift_head.trainable_variables
optimizer = keras.optimizers.Adam(5e-3)


def view(x):
    return x * tf.random.uniform(tf.shape(x), 0.7, 1.3) + 0.1 * tf.random.normal(tf.shape(x))


def negative_cosine(p, z):
    z = tf.stop_gradient(z)
    return -tf.reduce_mean(tf.reduce_sum(tf.math.l2_normalize(p, -1) * tf.math.l2_normalize(z, -1), axis=-1))


def shift_task(x):
    moved = tf.concat([tf.roll(x, 4 * k, axis=1) for k in range(3)], axis=0)
    label = tf.repeat(tf.range(3), tf.shape(x)[0])
    scores = shift_head(encoder(moved, training=True), training=True)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, scores))


@tf.function
def step(x):
    first, second = view(x), view(x)
    with tf.GradientTape() as tape:
        z1, z2 = encoder(first, training=True), encoder(second, training=True)
        p1, p2 = predictor(z1, training=True), predictor(z2, training=True)
        similarity = 0.5 * negative_cosine(p1, z2) + 0.5 * negative_cosine(p2, z1)
        pretext = shift_task(x)
        decay = tf.add_n([tf.nn.l2_loss(v) for v in variables])
        loss = similarity + 0.5 * pretext + 1e-4 * decay
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return similarity, pretext


profile = np.concatenate([np.full(4, 1.0), np.full(4, 0.0), np.full(4, -1.0)])
x = tf.constant(profile + 0.3 * np.random.default_rng(36).normal(size=(48, 12)), tf.float32)
log = [[float(v) for v in step(x)] for _ in range(15)]
print(log[0], log[-1])
assert log[-1][0] < log[0][0] and log[-1][1] < log[0][1]
