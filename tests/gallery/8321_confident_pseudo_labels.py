# case: confident_pseudo_labels
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: FixMatch: labels guessed on the weak view, a mask by confidence, the strong view is trained
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(18)
CLASSES, THRESHOLD = 3, 0.6
model = keras.Sequential(
    [keras.Input((6,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(CLASSES)], name="classifier")
optimizer = keras.optimizers.Adam(0.01)


def guess_labels(weak_view):
    probabilities = tf.nn.softmax(model(weak_view, training=True))
    labels = tf.argmax(probabilities, axis=-1)
    confident = tf.cast(tf.reduce_max(probabilities, axis=-1) >= THRESHOLD, tf.float32)
    return labels, confident


@tf.function
def step(x, y, unlabelled):
    weak = unlabelled + 0.05 * tf.random.normal(tf.shape(unlabelled))
    strong = unlabelled + 0.30 * tf.random.normal(tf.shape(unlabelled))
    with tf.GradientTape() as tape:
        supervised = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True)))
        pseudo, mask = guess_labels(weak)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(pseudo, model(strong, training=True))
        consistency = tf.reduce_sum(mask * each) / tf.maximum(tf.reduce_sum(mask), 1.0)
        decay = tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables])
        loss = supervised + 0.5 * consistency + 5e-4 * decay
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return supervised, consistency, tf.reduce_mean(mask)


rng = np.random.default_rng(18)
centres = 2.0 * rng.normal(size=(CLASSES, 6))
labels = rng.integers(0, CLASSES, size=160)
points = (centres[labels] + rng.normal(size=(160, 6))).astype("float32")
few, many = tf.constant(points[:30]), tf.constant(points[30:])
log = [[float(v) for v in step(few, tf.constant(labels[:30]), many)] for _ in range(20)]
print(log[0], log[-1])
assert log[-1][0] < log[0][0] and log[-1][2] > 0
