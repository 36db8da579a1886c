# case: two_lists_of_gradients_summed_in_train_step
# verdict: bug; static: no
# cause: accumulation-variable-drift
# expect_line: 35
# expect_variables: dense/kernel, dense_1/kernel
# symptom_today: ValueError: Dimensions must be equal, but are 3 and 4
# exit: 1
# fix: ask both tapes for the same list of variables
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.layers.Dense(4, name="dense")
        self.head = keras.layers.Dense(1, name="dense_1")

    def call(self, x):
        return self.head(self.body(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            fit = tf.reduce_mean((self(x) - y) ** 2)
        first = tape.gradient(fit, self.body.trainable_variables)
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.abs(self(x) - y))
        second = tape.gradient(error, self.head.trainable_variables)
        gradients = []
        for a, b in zip(first, second):
            gradients.append(a + b)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": fit}


net = Net()
net.compile("sgd")
net.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), verbose=0)
