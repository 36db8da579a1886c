# case: interaction_weights_added_in_call
# verdict: bug; static: yes
# cause: variable-recreated|variable-created-in-tf-function
# expect_line: 23 38 46
# expect_variables: - (FieldInteraction.w is never made)
# symptom_today: raises ValueError: You cannot add new elements of state (variables or sub-layers) to a layer that is already built
# exit: 1 (ValueError)
# fix: create the weight in build()
# source: Hirosora/LightCTR#4 (parameter matrices defined in call)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class FieldInteraction(keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def call(self, fields):
        w = self.add_weight(shape=(fields.shape[-1], self.dim), initializer="glorot_uniform", name="w")
        query = tf.matmul(fields, w)
        score = tf.nn.softmax(tf.matmul(query, query, transpose_b=True))
        return tf.matmul(score, query)


class Ctr(keras.Model):
    def __init__(self):
        super().__init__()
        self.table = keras.layers.Embedding(50, 6)
        self.cross = FieldInteraction(4)
        self.flat = keras.layers.Flatten()
        self.out = keras.layers.Dense(1, activation="sigmoid")

    def call(self, ids):
        return self.out(self.flat(self.cross(self.table(ids))))


rng = np.random.default_rng(0)
ids = rng.integers(0, 50, size=(64, 5))
click = (ids.sum(1) % 2).astype("float32")[:, None]
model = Ctr()
model.compile("adam", "binary_crossentropy")
model.fit(ids, click, epochs=2, batch_size=16, verbose=0)
print(len(model.trainable_variables))
