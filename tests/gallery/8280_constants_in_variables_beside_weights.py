# case: constants_in_variables_beside_weights
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the mean and the scale of the data are no weights, and a model without weights is only evaluated
# exit: 0
# fix: -
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Standardise(keras.layers.Layer):
    def __init__(self, data):
        super().__init__()
        self.mean = tf.Variable(data.mean(axis=0), trainable=False)
        self.scale = tf.Variable(data.std(axis=0), trainable=False)

    def call(self, x):
        return (x - self.mean) / self.scale


x = np.random.rand(64, 3).astype("float32")
y = x @ np.array([[1.0], [2.0], [3.0]], "float32")
model = keras.Sequential([keras.Input((3,)), Standardise(x), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.1), loss="mse")
losses = model.fit(x, y, epochs=5, verbose=0).history["loss"]
assert losses[-1] < losses[0]
front = keras.Sequential([keras.Input((3,)), model.layers[0]])
front.compile("sgd", loss="mse")
front.evaluate(x, x, verbose=0)
