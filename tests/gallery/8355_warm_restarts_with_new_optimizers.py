# case: warm_restarts
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; a fresh optimizer at the start of each of three cycles of 32 steps (warm restarts), the learning rate is set by hand in each step
# exit: 0
# fix: -
import math

import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)

CYCLES, EPOCHS_PER_CYCLE, BATCH = 3, 2, 32


def lr_at(step, total, peak=0.01, warmup=5):
    """Linear warm-up, then a cosine down to a tenth."""
    if step < warmup:
        return peak * (step + 1) / warmup
    t = (step - warmup) / max(1, total - warmup)
    return peak * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * t)))


def train_on(net, optimizer, xb, yb, lr):
    """One step with the given learning rate."""
    optimizer.learning_rate = lr
    with tf.GradientTape() as tape:
        pred = net(xb, training=True)
        loss = tf.reduce_mean(tf.square(yb - pred))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return float(loss), int(optimizer.iterations)


rng = np.random.default_rng(6)
x = rng.normal(size=(512, 8)).astype("float32")
y = (np.sin(x[:, :1]) + x[:, 1:2] * 0.6 - x[:, 2:3] * 0.4).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=4).batch(BATCH)

net = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(32, activation="tanh"),
    keras.layers.Dense(1),
])

per_cycle = EPOCHS_PER_CYCLE * (512 // BATCH)
snapshots = []
for cycle in range(CYCLES):
    # restart: old momentum is thrown away on purpose, the weights go on
    optimizer = keras.optimizers.SGD(learning_rate=0.01, momentum=0.9, nesterov=True)
    step = 0
    for epoch in range(EPOCHS_PER_CYCLE):
        losses = []
        for xb, yb in data:
            loss, done = train_on(net, optimizer, xb, yb, lr_at(step, per_cycle))
            losses.append(loss)
            step += 1
        print(f"cycle {cycle} epoch {epoch}  loss {np.mean(losses):.4f}  (steps of the optimizer: {done})")
    snapshots.append(net.get_weights())
print("snapshots kept for the ensemble:", len(snapshots))
