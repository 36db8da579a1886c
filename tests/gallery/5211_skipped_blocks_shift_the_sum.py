# case: skipped_blocks_shift_the_sum
# verdict: bug; static: no
# cause: accumulation-variable-drift | misrouted-gradient
# expect_line: 46 41 47
# expect_variables: block_0/*, block_1/* (those of block_2 are cut off by zip and enter no sum)
# symptom_today: silent: gradients of different blocks are added together when a block was skipped
# exit: 0
# fix: keep the None entries (replace them by zeros) so that each position stays one variable
# source: tensorflow/tensorflow#42542 (variables without a gradient in some steps)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(26)
blocks = [keras.layers.Dense(4, activation="tanh", name=f"block_{i}") for i in range(3)]
for block in blocks:
    block.build((None, 4))
head = keras.layers.Dense(1, name="head")
head.build((None, 4))
variables = [v for layer in [head, *blocks] for v in layer.trainable_variables]
opt = keras.optimizers.SGD(0.05)
coins = np.random.default_rng(3)


def forward(x):
    for block in blocks:
        if coins.random() < 0.6:
            x = x + block(x)
    return head(x)


shifted = 0
for window in range(3):
    sums, owners = None, None
    for micro in range(4):
        x = tf.random.normal((8, 4))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(forward(x) - x[:, :1])) / 4.0
        grads = tape.gradient(loss, variables)
        used = [v for g, v in zip(grads, variables) if g is not None]
        grads = [g for g in grads if g is not None]
        if sums is None:
            sums, owners = grads, used
        else:
            shifted += sum(a is not b for a, b in zip(owners, used))
            sums = [s + g for s, g in zip(sums, grads)]
    opt.apply_gradients(zip(sums, owners))
    print(window, float(loss), "kept", len(sums))
print("sums that mixed two variables:", shifted)
assert shifted > 0
