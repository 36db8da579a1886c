# case: votes_counted_by_bincount
# verdict: bug; static: yes
# cause: no-registered-gradient
# expect_line: 28 30
# expect_variables: confidence/*
# symptom_today: raises LookupError: gradient registry has no entry for: DenseBincount
# exit: 1 (LookupError)
# fix: sum the votes with tf.math.unsorted_segment_sum(conf, cluster, n), which is differentiable
# source: tensorflow/tensorflow#21892 (LookupError for a segment-style reduction); tf.math.bincount with weights has no gradient
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
patches = tf.constant(rng.normal(size=(20, 6)), tf.float32)
cluster = tf.constant(rng.integers(0, 4, 20), tf.int32)
wanted = tf.constant([4.0, 1.0, 2.0, 3.0])
confidence = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"),
                               keras.layers.Dense(1, activation="sigmoid")], name="confidence")
opt = keras.optimizers.SGD(0.1)


@tf.function
def train(patches):
    with tf.GradientTape() as tape:
        conf = tf.squeeze(confidence(patches), -1)
        votes = tf.math.bincount(cluster, weights=conf, minlength=4)
        loss = tf.reduce_mean(tf.square(votes - wanted))
    grads = tape.gradient(loss, confidence.trainable_variables)
    opt.apply_gradients(zip(grads, confidence.trainable_variables))
    return loss


for i in range(3):
    print(i, float(train(patches)))
