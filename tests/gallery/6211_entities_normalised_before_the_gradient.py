# case: entities_normalised_before_the_gradient
# verdict: bug; static: yes
# cause: assign-between-forward-and-gradient
# expect_line: 32 33
# expect_variables: entities
# symptom_today: silent: the gradient is that of the table before it was scaled, and is applied to the scaled one
# exit: 0
# fix: scale the table after apply_gradients (or before the forward pass)
# source: own words, after TransE implementations that renormalise the entity table in every step
import numpy as np
import tensorflow as tf
import keras

tf.random.set_seed(0)
rng = np.random.default_rng(0)
entities = tf.Variable(tf.random.normal((20, 8), stddev=2.0), name="entities")
relations = tf.Variable(tf.random.normal((3, 8)), name="relations")
opt = keras.optimizers.SGD(0.1)
heads, rels, tails = rng.integers(0, 20, 64), rng.integers(0, 3, 64), rng.integers(0, 20, 64)


def distance(h, r, t):
    move = tf.gather(entities, h) + tf.gather(relations, r) - tf.gather(entities, t)
    return tf.reduce_sum(tf.square(move), axis=-1)


for epoch in range(10):
    wrong = rng.integers(0, 20, 64)
    with tf.GradientTape() as tape:
        margin = 1.0 + distance(heads, rels, tails) - distance(heads, rels, wrong)
        loss = tf.reduce_mean(tf.nn.relu(margin))
    entities.assign(tf.math.l2_normalize(entities, axis=-1))
    grads = tape.gradient(loss, [entities, relations])
    opt.apply_gradients(zip(grads, [entities, relations]))
    print(epoch, float(loss))
