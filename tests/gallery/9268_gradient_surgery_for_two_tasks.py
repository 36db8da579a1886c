# case: gradient_surgery_for_two_tasks
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import tensorflow as tf
import keras

keras.utils.set_random_seed(110)
trunk = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(10, activation="tanh")], name="trunk")
heads = [keras.layers.Dense(1, name="steer"), keras.layers.Dense(1, name="brake")]
for head in heads:
    head.build((None, 10))
optimizer = keras.optimizers.Adam(0.02)
x = tf.random.normal((64, 5))
targets = [x[:, :1], -x[:, :1] + x[:, 1:2]]
totals = []
for step in range(30):
    with tf.GradientTape(persistent=True) as tape:
        h = trunk(x, training=True)
        losses = [tf.reduce_mean(tf.square(head(h) - t)) for head, t in zip(heads, targets)]
    shared = [tape.gradient(l, trunk.trainable_variables) for l in losses]
    own = [tape.gradient(l, head.trainable_variables) for l, head in zip(losses, heads)]
    del tape
    dot = tf.add_n([tf.reduce_sum(a * b) for a, b in zip(*shared)])
    if dot < 0:                                   # project the first off the second
        size = tf.add_n([tf.reduce_sum(tf.square(b)) for b in shared[1]]) + 1e-12
        shared[0] = [a - dot / size * b for a, b in zip(*shared)]
    grads = [a + b for a, b in zip(*shared)] + own[0] + own[1]
    variables = trunk.trainable_variables + heads[0].trainable_variables + heads[1].trainable_variables
    optimizer.apply_gradients(zip(grads, variables))
    totals.append(float(losses[0] + losses[1]))
print(totals[0], totals[-1])
assert totals[-1] < totals[0]
