# case: metric_of_numpy_as_the_loss
# verdict: bug
# cause: numpy-escape
# expect_line: 25
# expect_variables: dense/*, dense_1/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: write the loss with TensorFlow ops
# seen: an eager loop that minimises a metric of a NumPy library
import keras
import numpy as np
import tensorflow as tf


def quantile_loss(y, p):
    return np.float32(np.quantile(np.abs(y - p), 0.9))


keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.01)
x = tf.random.normal((16, 3), seed=1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.numpy_function(quantile_loss, [x[:, :1], model(x)], tf.float32)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
