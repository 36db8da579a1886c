# case: hard_gate_in_autograph_loop
# verdict: bug; static: no
# cause: non-differentiable-op | zero-gradient-op
# expect_line: 29 30
# expect_variables: halting/kernel, halting/bias
# symptom_today: silent: inside a while loop the missing gradient of halting/* comes out as zeros
# exit: 0
# fix: multiply by the halting probability itself (or a straight-through gate)
# seen: adaptive computation time written with tf.while loops
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
cell = keras.layers.Dense(4, activation="tanh", name="cell")
halting = keras.layers.Dense(1, name="halting")
out = keras.layers.Dense(1, name="out")
cell.build((None, 4)), halting.build((None, 4)), out.build((None, 4))
weights = cell.trainable_weights + halting.trainable_weights + out.trainable_weights
opt = keras.optimizers.SGD(0.05)


@tf.function
def train(x, y, hops):
    with tf.GradientTape() as tape:
        state = x
        for _ in tf.range(hops):
            p = tf.sigmoid(halting(state))
            go_on = tf.where(
                p < 0.5,
                tf.ones_like(p),
                tf.zeros_like(p),
            )
            state = go_on * cell(state) + (1.0 - go_on) * state
        loss = tf.reduce_mean((out(state) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


frozen = halting.get_weights()[0].copy()
data = tf.random.normal((24, 4), seed=2)
for _ in range(4):
    value = train(data, tf.reduce_sum(data, 1, keepdims=True), tf.constant(3))
print(float(value))
assert np.array_equal(frozen, halting.get_weights()[0])
