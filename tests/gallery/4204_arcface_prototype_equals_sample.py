# case: arcface_prototype_equals_sample
# verdict: bug; static: yes
# cause: nan-acos
# expect_line: 27
# expect_variables: embed/*, prototypes (NaN)
# symptom_today: silent: loss nan from the first step (a cosine of 1.0000001)
# exit: 0
# fix: clip the cosine: tf.acos(tf.clip_by_value(cos, -1 + 1e-6, 1 - 1e-6))
# source: sirius-ai/MobileFaceNet_TF#4 (arcface loss becomes nan), THUFutureLab/gluon-face#37 (same with ArcLoss)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
CLASSES, DIM, SCALE, MARGIN = 12, 8, 30.0, 0.5
embed = keras.Sequential([keras.layers.Input((20,)), keras.layers.Dense(DIM)], name="embed")
photos = np.random.default_rng(1).normal(size=(CLASSES, 20)).astype("float32")
who = tf.range(CLASSES)

# one photo per person: start every class vector at the embedding of its only photo
prototypes = tf.Variable(tf.transpose(embed(photos)), name="prototypes")
opt = keras.optimizers.SGD(0.01)


def angular_logits(features, labels):
    cos = tf.matmul(tf.nn.l2_normalize(features, axis=1), tf.nn.l2_normalize(prototypes, axis=0))
    theta = tf.acos(cos)
    own = tf.one_hot(labels, CLASSES, on_value=True, off_value=False, dtype=tf.bool)
    return SCALE * tf.where(own, tf.cos(theta + MARGIN), cos)


@tf.function
def step(x, labels):
    with tf.GradientTape() as tape:
        logits = angular_logits(embed(x, training=True), labels)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    params = embed.trainable_variables + [prototypes]
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    return loss


losses = [float(step(photos, who)) for _ in range(3)]
print("losses", losses)
assert np.isnan(losses[-1])
