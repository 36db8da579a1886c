# case: sum_of_squares_in_half_precision
# verdict: bug; static: no
# cause: nan-float16 | loss-scale-missing
# expect_line: 21
# expect_variables: wide/*
# symptom_today: silent: the activity penalty overflows float16, the weights become NaN
# exit: 0
# fix: cast to float32 before squaring and summing
# seen: mixed precision with hand-written penalties
import keras
import numpy as np
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")
wide = keras.Sequential([keras.layers.Input((20,)), keras.layers.Dense(64, name="wide"), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(1e-3)
x = tf.constant(np.random.default_rng(1).normal(size=(64, 20)) * 30, tf.float32)


def activity(h):
    return tf.reduce_sum(tf.square(h))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        h = wide.layers[0](x)
        out = wide.layers[1](h)
        loss = tf.reduce_mean((tf.cast(out, tf.float32) - y) ** 2) + 1e-4 * tf.cast(activity(h), tf.float32)
    grads = tape.gradient(loss, wide.trainable_variables)
    opt.apply_gradients(zip(grads, wide.trainable_variables))
    return loss


values = [float(step(x, x[:, :1])) for _ in range(2)]
print(values)
assert not np.isfinite(values[0])
