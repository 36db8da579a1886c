# case: group_lasso_from_zero
# verdict: bug; static: no
# cause: nan-norm | nan-sqrt
# expect_line: 20
# expect_variables: effects/*
# symptom_today: silent: the gradient of the norm at zero is NaN and the weights follow
# exit: 0
# fix: tf.sqrt(tf.reduce_sum(x**2, -1) + 1e-12)
# seen: group-sparse regression with zero initialisation
import keras
import numpy as np
import tensorflow as tf


class GroupLasso(keras.regularizers.Regularizer):
    def __init__(self, strength):
        self.strength = strength

    def __call__(self, kernel):
        return self.strength * tf.reduce_sum(tf.norm(kernel, axis=1))


model = keras.Sequential(
    [
        keras.layers.Input((5,)),
        keras.layers.Dense(2, kernel_initializer="zeros", kernel_regularizer=GroupLasso(0.01), name="effects"),
    ]
)
model.compile("sgd", "mse")
x = np.random.default_rng(0).normal(size=(32, 5)).astype("float32")
log = model.fit(x, x[:, :2], epochs=2, verbose=0).history["loss"]
print(log)
assert np.isnan(log[-1])
