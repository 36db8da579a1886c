# case: decay_on_everything_while_one_head_rests
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: heads that take turns under weight decay, and a table of which only rows are penalised
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)
body = keras.layers.Dense(5, activation="tanh")
heads = [keras.layers.Dense(1), keras.layers.Dense(1)]
table = tf.Variable(tf.random.normal((6, 3), seed=1), name="table")
optimizer = keras.optimizers.Adam(0.01)
x = np.random.default_rng(1).normal(size=(16, 3)).astype("float32")
heads[0](body(x)), heads[1](body(x))
weights = body.trainable_variables + heads[0].trainable_variables + heads[1].trainable_variables

for turn in range(6):
    with tf.GradientTape() as tape:
        outputs = [head(body(x)) for head in heads]
        loss = tf.reduce_mean((outputs[turn % 2] - x[:, :1]) ** 2)
        loss += 1e-3 * tf.add_n([tf.nn.l2_loss(w) for w in weights])
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

plain = keras.optimizers.SGD(0.1)
for _ in range(4):
    with tf.GradientTape() as tape:
        near = tf.reduce_sum(tf.gather(table, [0, 2]) * x[:2], -1)
        loss = tf.reduce_mean((near - 1.0) ** 2) + 1e-3 * tf.nn.l2_loss(table[1:3])
    plain.apply_gradients([(tape.gradient(loss, table), table)])
