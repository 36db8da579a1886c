# case: fast_head_in_the_inner_loop_only
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (ANIL pattern)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
body = keras.Sequential([keras.Input((1,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(24, activation="tanh")], name="body")
head_w = tf.Variable(tf.random.normal((24, 1), stddev=0.2, seed=1), name="head_w")
head_b = tf.Variable(tf.zeros(1), name="head_b")
meta = body.trainable_variables + [head_w, head_b]
opt = keras.optimizers.Adam(5e-3)
rng = np.random.default_rng(0)


def task():
    phase, size = rng.uniform(0, np.pi), rng.uniform(0.5, 1.5)
    x = rng.uniform(-3, 3, (20, 1)).astype("float32")
    return tf.constant(x), tf.constant((size * np.sin(x + phase)).astype("float32"))


log = []
for it in range(50):
    with tf.GradientTape() as outer:
        total = 0.0
        for _ in range(2):
            x, y = task()
            w, b = tf.identity(head_w), tf.identity(head_b)
            support = body(x[:10])
            for _ in range(2):
                with tf.GradientTape() as inner:
                    inner.watch([w, b])
                    fit = tf.reduce_mean(tf.square(support @ w + b - y[:10]))
                gw, gb = inner.gradient(fit, [w, b])
                w, b = w - 0.1 * gw, b - 0.1 * gb
            total += tf.reduce_mean(tf.square(body(x[10:]) @ w + b - y[10:])) / 2.0
    grads = outer.gradient(total, meta)
    opt.apply_gradients(zip(grads, meta))
    log.append(float(total))
print(np.mean(log[:10]), np.mean(log[-10:]))
assert all(g is not None for g in grads) and np.mean(log[-10:]) < np.mean(log[:10])
