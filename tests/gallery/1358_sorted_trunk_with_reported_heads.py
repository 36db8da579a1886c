# case: sorted_trunk_with_reported_heads
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 26
# expect_variables: trunk/kernel, trunk/bias
# symptom_today: the trunk only shrinks; the reported norms of its gradients are zeros that were asked for
# exit: 0
# fix: sort the values themselves with tf.sort
# source: own (norms of each loss reported with unconnected_gradients="zero", beside a penalty)
import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
trunk = keras.layers.Dense(6, activation="relu", name="trunk")
first, second = keras.layers.Dense(1, name="first"), keras.layers.Dense(1, name="second")
for layer, width in ((trunk, 4), (first, 6), (second, 6)):
    layer.build((None, width))
weights = [v for layer in (trunk, first, second) for v in layer.trainable_variables]
values = [v.value for v in weights]
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def step(x, y):
    with tf.GradientTape(persistent=True) as tape:
        ranks = tf.cast(tf.argsort(trunk(x), axis=-1), tf.float32)
        losses = [tf.reduce_mean((head(ranks) - y) ** 2) for head in (first, second)]
        decay = 1e-3 * tf.add_n([tf.reduce_sum(v * v) for v in weights])
        total = losses[0] + losses[1] + decay
    norms = [tf.linalg.global_norm(tape.gradient(loss, values, unconnected_gradients="zero")) for loss in losses]
    optimizer.apply_gradients(zip(tape.gradient(total, weights), weights))
    return total, norms


x = tf.random.normal((32, 4), seed=7)
for _ in range(12):
    total, norms = step(x, x[:, :1])
print(float(total), [float(n) for n in norms])
