# case: root_of_a_clamped_distance
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(112)


class Distance(layers.Layer):
    def call(self, pair):
        a, b = pair
        squared = ops.sum(ops.square(a - b), axis=-1, keepdims=True)
        return ops.sqrt(ops.maximum(squared, 1e-7))


left, right = keras.Input((6,)), keras.Input((6,))
tower = keras.Sequential([layers.Dense(12, activation="relu"), layers.Dense(4)], name="tower")
model = keras.Model([left, right], Distance()([tower(left), tower(right)]))


def contrastive(y_true, y_pred):
    return ops.mean(y_true * ops.square(y_pred) + (1 - y_true) * ops.square(ops.relu(1.0 - y_pred)))


rng = np.random.default_rng(0)
a = rng.normal(size=(64, 6)).astype("float32")
b = rng.normal(size=(64, 6)).astype("float32")
b[::2] = a[::2]                                        # half of the pairs are the same picture
y = np.zeros((64, 1), "float32")
y[::2] = 1.0
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=contrastive)
history = model.fit([a, b], y, batch_size=16, epochs=5, verbose=0)
print(history.history["loss"])
assert np.isfinite(history.history["loss"]).all() and all(np.isfinite(w).all() for w in model.get_weights())
