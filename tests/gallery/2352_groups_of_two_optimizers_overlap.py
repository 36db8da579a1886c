# case: overlapping_groups
# verdict: bug
# cause: variable-applied-twice
# expect_line: 26 27 42 43
# expect_variables: block_2/*
# symptom_today: no error; the layer block_2 moves faster than its learning rate allows (0.004 in the first step, with rates of 0.001 and 0.003)
# exit: 0
# fix: fast = [v for v in model.trainable_variables if "head" in v.path]
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)

x = np.random.normal(size=(320, 10)).astype("float32")
y = (np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] > 0.2).astype("float32")[:, None]

inp = keras.Input((10,))
h = keras.layers.Dense(32, activation="tanh", name="block_0")(inp)
h = keras.layers.Dense(32, activation="tanh", name="block_1")(h)
h = keras.layers.Dense(32, activation="tanh", name="block_2")(h)
out = keras.layers.Dense(1, name="head")(h)
model = keras.Model(inp, out)

# discriminative learning rates: blocks slow, the top of the net fast
slow = [v for v in model.trainable_variables if "block" in v.path]
fast = [v for v in model.trainable_variables if "block_2" in v.path or "head" in v.path]
opt_slow = keras.optimizers.Adam(1e-3)
opt_fast = keras.optimizers.Adam(3e-3)
opt_slow.build(slow)
opt_fast.build(fast)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(xb, yb):
    with tf.GradientTape(persistent=True) as tape:
        loss = bce(yb, model(xb, training=True))
    g_slow = tape.gradient(loss, slow)
    g_fast = tape.gradient(loss, fast)
    del tape
    opt_slow.apply_gradients(zip(g_slow, slow))
    opt_fast.apply_gradients(zip(g_fast, fast))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(320, seed=1).batch(32)
before = [v.numpy() for v in model.trainable_variables]
for epoch in range(6):
    total, n = 0.0, 0
    for xb, yb in data:
        total += float(step(xb, yb))
        n += 1
        if epoch == 0 and n == 1:
            for v, old in zip(model.trainable_variables, before):
                print(f"   first step moved {v.path:16s} by {np.abs(v.numpy() - old).max():.4f}")
    print(f"epoch {epoch}  loss {total / n:.4f}")
