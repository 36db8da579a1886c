# case: uneven_micro_batches_never_set_back
# verdict: bug
# cause: accumulation-not-reset
# expect_line: 32 33
# expect_variables: dense/*
# symptom_today: trains; each update repeats all gradients of the ones before
# exit: 0
# fix: make `totals` anew inside of the loop over updates
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
tower = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(1)])
adam = keras.optimizers.Adam(0.01)
inputs = np.random.default_rng(0).normal(size=(30, 5)).astype("float32")
outputs = inputs @ np.arange(5, dtype="float32")[:, None]
edges = [(0, 14), (14, 24), (24, 30)]


def part(rows):
    low, high = rows
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(keras.losses.mean_squared_error(outputs[low:high], tower(inputs[low:high])))
    return tape.gradient(error, tower.trainable_variables), (high - low) / len(inputs)


totals = [tf.zeros_like(v) for v in tower.trainable_variables]
for update in range(4):
    for rows in edges:
        gradients, share = part(rows)
        totals = [t + share * g for t, g in zip(totals, gradients)]
    adam.apply_gradients(zip(totals, tower.trainable_variables))
assert float(tf.norm(totals[0])) > 2.0 * float(tf.norm(part((0, 30))[0][0]))
