# case: list_of_raw_gains_by_train_on_batch
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 18
# expect_variables: gains
# symptom_today: Keras warns that the model has no trainable weights; the gains stay at one
# exit: 0
# fix: create them with self.add_weight
import keras
import numpy as np
import tensorflow as tf


class Equaliser(keras.layers.Layer):
    def __init__(self, bands):
        super().__init__()
        self.bands = keras.layers.Rescaling(0.5)
        self.gains = [tf.Variable(tf.ones(())) for _ in range(bands)]

    def call(self, x):
        columns = tf.unstack(self.bands(x), axis=-1)
        return tf.stack([g * c for g, c in zip(self.gains, columns)], axis=-1)


x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
model = keras.Sequential([keras.Input((3,)), Equaliser(3)])
model.compile(keras.optimizers.Adam(0.1), loss="mse", run_eagerly=True)
for _ in range(3):
    model.train_on_batch(x, 2.0 * x)
assert all(g.numpy() == 1.0 for g in model.layers[-1].gains)
