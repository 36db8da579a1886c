# case: watched_variables_include_frozen
# verdict: bug; static: no
# cause: frozen-by-flag | non-trainable-in-list
# expect_line: 28 29
# expect_variables: base/pretrained/* (frozen, but updated)
# symptom_today: silent: the frozen base is trained too (trainable=False does not stop the tape from watching)
# exit: 0
# fix: use head.trainable_variables
# source: tensorflow/tensorflow#26404 (which variables: tape.watched_variables() against model.trainable_variables)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
base = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(12, activation="relu", name="pretrained")], name="base")
base.trainable = False
head = keras.layers.Dense(3, name="head")
opt = keras.optimizers.SGD(0.1)


def classify(x):
    return head(base(x, training=False))


def fine_tune(x, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, classify(x)))
    weights = tape.watched_variables()
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return float(loss)


rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(32, 6)).astype("float32"))
labels = tf.constant(rng.integers(0, 3, size=32))
head.build((None, 12))
saved = base.get_weights()[0].copy()
print([round(fine_tune(x, labels), 4) for _ in range(5)])
print("frozen weights moved by", float(np.abs(base.get_weights()[0] - saved).max()))
assert not np.array_equal(saved, base.get_weights()[0])
