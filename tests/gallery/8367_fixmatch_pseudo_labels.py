# case: fixmatch_pseudo_labels
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: hard or soft pseudo labels and where gradients stop
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(11)
CLASSES, THRESHOLD = 3, 0.8


def make_split():
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(CLASSES, 6)) * 2.0
    y = rng.integers(0, CLASSES, 240)
    x = (centres[y] + rng.normal(size=(240, 6))).astype("float32")
    return (x[:48], y[:48].astype("int32")), x[48:], y[48:]


def jitter(x, strength, seed):
    return x + tf.random.normal(tf.shape(x), stddev=strength, seed=seed)


model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(CLASSES)])
optimizer = keras.optimizers.Adam(5e-3)


@tf.function
def train_step(x, y, unlabelled):
    with tf.GradientTape() as tape:
        supervised = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True)))
        weak = tf.stop_gradient(tf.nn.softmax(model(jitter(unlabelled, 0.05, 1))))
        pseudo = tf.argmax(weak, axis=-1)
        confident = tf.cast(tf.reduce_max(weak, axis=-1) >= THRESHOLD, tf.float32)
        strong = model(jitter(unlabelled, 0.4, 2), training=True)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=pseudo, logits=strong)
        unsupervised = tf.reduce_mean(ce * confident)
        loss = supervised + unsupervised
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return supervised, unsupervised, tf.reduce_mean(confident)


(labelled_x, labelled_y), unlabelled, hidden = make_split()
labelled = tf.data.Dataset.from_tensor_slices((labelled_x, labelled_y)).repeat().batch(12)
free = tf.data.Dataset.from_tensor_slices(unlabelled).repeat().batch(48)
for step, ((x, y), u) in enumerate(tf.data.Dataset.zip((labelled, free)).take(40)):
    s, u_loss, share = train_step(x, y, u)
    if step % 13 == 0:
        print(step, float(s), float(u_loss), "confident", float(share))
print("accuracy", np.mean(np.argmax(model(unlabelled), 1) == hidden))
