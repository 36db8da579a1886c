# case: worker_gradients_reduced_with_add
# verdict: bug; static: no
# cause: indexed-slices
# expect_line: 25 29 35
# expect_variables: embedding/embeddings (the word vectors)
# symptom_today: raises TypeError: unsupported operand type(s) for +: 'IndexedSlices' and 'IndexedSlices'
# exit: 1 (TypeError)
# fix: tf.convert_to_tensor(g) before adding, or tf.add_n
# seen: averaging gradients of several workers with functools.reduce
import functools
import operator

import keras
import tensorflow as tf

model = keras.Sequential([keras.layers.Input((4,), dtype="int32"), keras.layers.Embedding(50, 6),
                          keras.layers.Flatten(), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.1)


def worker(shard):
    words, ratings = shard
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(words, training=True) - ratings) ** 2)
    return tape.gradient(loss, model.trainable_variables)


def mean_of(workers):
    return [functools.reduce(operator.add, per_variable) / len(workers) for per_variable in zip(*workers)]


words = tf.random.uniform((12, 4), 0, 50, dtype=tf.int32, seed=1)
ratings = tf.random.normal((12, 1), seed=2)
shards = list(zip(tf.split(words, 3), tf.split(ratings, 3)))
grads = mean_of([worker(shard) for shard in shards])
opt.apply_gradients(zip(grads, model.trainable_variables))
