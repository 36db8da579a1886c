# case: unfrozen_body_outgrows_the_sums
# verdict: bug; static: no
# cause: accumulation-variable-drift
# expect_line: 29
# expect_variables: dense/kernel, dense/bias
# symptom_today: ValueError: zip() argument 2 is longer than argument 1
# exit: 1
# fix: fix the list of variables before a window begins, or start a new window when it changes
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
body, head = keras.layers.Dense(4, name="dense"), keras.layers.Dense(1, name="head")
optimizer = keras.optimizers.SGD(0.1)
x = tf.constant(np.random.rand(8, 3), tf.float32)
y = tf.reduce_sum(x, axis=1, keepdims=True)
head(body(x))


def train(steps):
    total = None
    for step in range(steps):
        variables = head.trainable_variables + (body.trainable_variables if step > 1 else [])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((head(body(x)) - y) ** 2) / steps
        gradients = tape.gradient(loss, variables)
        if total is not None:
            gradients = [a + b for a, b in zip(total, gradients, strict=True)]
        total = gradients
    optimizer.apply_gradients(zip(total, variables))


train(4)
