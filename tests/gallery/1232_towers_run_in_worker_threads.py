# case: towers_run_in_worker_threads
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 28 29 31
# expect_variables: tower_0/*, tower_1/* (the mixing layer is trained)
# symptom_today: silent: UserWarning Gradients do not exist for the towers' variables
# exit: 0
# fix: a tape records only the thread that opened it: call the towers in the same thread (or open a tape in each worker)
# source: own words; GradientTape is thread-local (compare pytorch/pytorch#20528 for the same surprise with no_grad)
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)
towers = [keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu")], name=f"tower_{i}") for i in range(2)]
mix = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)], name="mix")
params = [v for t in towers for v in t.trainable_variables] + mix.trainable_variables
opt = keras.optimizers.Adam(1e-2)
x = tf.random.normal((32, 5), seed=1)
y = tf.reduce_sum(x, axis=1, keepdims=True)
first = towers[0].get_weights()[0].copy()

with ThreadPoolExecutor(max_workers=2) as pool:
    for step in range(4):
        with tf.GradientTape() as tape:
            futures = [pool.submit(tower, x) for tower in towers]
            joined = tf.concat([f.result() for f in futures], axis=1)
            loss = tf.reduce_mean(tf.square(mix(joined) - y))
        grads = tape.gradient(loss, params)
        opt.apply_gradients(zip(grads, params))
        print(step, float(loss))
assert np.array_equal(first, towers[0].get_weights()[0])
