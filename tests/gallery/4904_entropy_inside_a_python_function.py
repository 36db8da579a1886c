# case: entropy_inside_a_python_function
# verdict: bug
# cause: nan-log
# expect_line: 19
# expect_variables: policy/dense/*
# symptom_today: the loss is NaN from the first step on; TensorFlow names `EagerPyFunc` at best
# exit: 0
# fix: tf.math.log(tf.maximum(shares, 1e-7))
# source: own
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)


def spread(values):
    shares = values / tf.reduce_sum(values, axis=-1, keepdims=True)
    return -tf.reduce_mean(tf.reduce_sum(shares * tf.math.log(shares), axis=-1))


policy = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(6)], name="policy")
optimizer = keras.optimizers.Adam(0.01)
x = tf.constant(np.random.default_rng(3).normal(size=(24, 5)).astype("float32"))


@tf.function
def step():
    with tf.GradientTape() as tape:
        scores = tf.nn.relu(policy(x)) + tf.one_hot(0, 6) * 0.1
        bonus = tf.py_function(spread, [scores], tf.float32)
        bonus.set_shape(())
        loss = tf.reduce_mean(tf.square(scores)) - 0.01 * bonus
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


losses = [float(step()) for _ in range(5)]
assert np.isnan(losses[-1])
