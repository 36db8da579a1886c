# case: layer_made_in_call
# verdict: bug; static: yes
# cause: variable-recreated | untracked-variable | variable-created-in-tf-function
# expect_line: 22
# expect_variables: attention/dense_*/kernel (a new one in every call)
# symptom_today: silent when run eagerly: the projection is new random numbers at each step
# exit: 0
# fix: create the layer in __init__ or build
# seen: subclassed layers ported from functional code
import keras
import numpy as np
import tensorflow as tf


class Attention(keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.value = keras.layers.Dense(width)

    def call(self, x):
        query = keras.layers.Dense(self.width)(x)
        weights = tf.nn.softmax(tf.matmul(query, x, transpose_b=True))
        return tf.matmul(weights, self.value(x))


attention = Attention(4)
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((2, 5, 4), seed=1)
attention(x)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(attention(x) ** 2)
    grads = tape.gradient(loss, attention.trainable_variables)
    opt.apply_gradients(zip(grads, attention.trainable_variables))
    print(step, float(loss), len(attention.trainable_variables))
assert len(attention.trainable_variables) == 2
