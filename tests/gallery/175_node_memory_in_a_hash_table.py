# case: node_memory_in_a_hash_table
# verdict: bug; static: no
# cause: state-boundary
# expect_line: 26 27
# expect_variables: encoder/*
# symptom_today: Keras warns for the encoder; only the classifier trains
# exit: 0
# fix: gather the neighbours from the tensor of this step; the table is for values that need no gradient
# seen: temporal graph networks with a memory table
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
encoder = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(6, activation="tanh")], name="encoder")
classifier = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(2)], name="classifier")
memory = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, default_value=tf.zeros(6))
opt = keras.optimizers.Adam(0.01)
nodes = tf.range(10, dtype=tf.int64)
neighbour = tf.roll(nodes, 1, axis=0)
features = tf.random.normal((10, 4), seed=3)
labels = tf.cast(features[:, 0] > 0, tf.int32)


def message_passing(ids, others, x):
    memory.insert(ids, encoder(x))
    return 0.5 * (memory.lookup(ids) + memory.lookup(others))


old = encoder.get_weights()[0]
for epoch in range(3):
    with tf.GradientTape() as tape:
        logits = classifier(message_passing(nodes, neighbour, features))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    variables = encoder.trainable_variables + classifier.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
assert np.array_equal(old, encoder.get_weights()[0])
