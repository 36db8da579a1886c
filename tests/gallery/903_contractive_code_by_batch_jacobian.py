# case: contractive_code_by_batch_jacobian
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: contractive autoencoders with a Jacobian in the loss
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)
encode = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(4, activation="sigmoid")])
decode = keras.layers.Dense(6)
opt = keras.optimizers.Adam(0.01)
x = tf.constant(np.random.default_rng(2).normal(size=(32, 6)), tf.float32)


@tf.function
def step(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            code = encode(x, training=True)
        jacobian = inner.batch_jacobian(code, x)
        contraction = tf.reduce_mean(tf.reduce_sum(jacobian**2, axis=[1, 2]))
        loss = tf.reduce_mean((decode(code) - x) ** 2) + 0.1 * contraction
    variables = encode.trainable_variables + decode.trainable_variables
    opt.apply_gradients(zip(outer.gradient(loss, variables), variables))
    return loss


decode.build((None, 4))
losses = [float(step(x)) for _ in range(15)]
assert losses[-1] < losses[0]
