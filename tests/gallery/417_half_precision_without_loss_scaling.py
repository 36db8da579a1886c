# case: half_precision_without_loss_scaling
# verdict: bug; static: no
# cause: loss-scale-missing | nan-float16
# expect_line: 19 27 28 29
# expect_variables: stack/*
# symptom_today: silent: the gradients underflow to exact zero, nothing trains
# exit: 0
# fix: LossScaleOptimizer with scale_loss in the tape, or bfloat16
# seen: custom loops under mixed_float16
import keras
import numpy as np
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(0)
stack = keras.Sequential(
    [keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, dtype="float32")], name="stack"
)
opt = keras.optimizers.Adam(1e-3)
x = tf.random.normal((64, 8), seed=1)
y = x[:, :1] * 1e-5


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = 1e-4 * tf.reduce_mean((stack(x, training=True) * 1e-3 - y) ** 2)
    grads = tape.gradient(loss, stack.trainable_variables)
    opt.apply_gradients(zip(grads, stack.trainable_variables))
    return loss, grads[0]


for _ in range(3):
    loss, first = step()
zeros = tf.reduce_mean(tf.cast(first == 0.0, tf.float32))
print(float(loss), float(zeros))
assert zeros > 0.9
