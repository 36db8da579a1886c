# case: quantised_age_looked_up_in_a_table
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 28 29
# expect_variables: age_net/*
# symptom_today: Keras warns for the age network; only the embedding and the head train
# exit: 0
# fix: interpolate between two rows of the table, or feed the continuous age as well
# seen: a predicted number used as an index of an embedding
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)


class AgeAwareScore(keras.Model):
    def __init__(self, buckets=10):
        super().__init__()
        self.buckets = buckets
        self.age_net = keras.Sequential(
            [keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")], name="age_net")
        self.table = keras.layers.Embedding(buckets, 4)
        self.head = keras.layers.Dense(1)

    def call(self, face):
        age = self.age_net(face)[:, 0]
        bucket = tf.cast(age * (self.buckets - 1), tf.int32)
        return self.head(self.table(bucket))


model = AgeAwareScore()
model.compile(keras.optimizers.Adam(0.05), "mse")
rng = np.random.default_rng(4)
faces = rng.normal(size=(48, 6)).astype("float32")
model(faces[:1])
before = [w.copy() for w in model.age_net.get_weights()]
model.fit(faces, faces[:, :1] ** 2, epochs=2, verbose=0)
assert all(np.array_equal(a, b) for a, b in zip(before, model.age_net.get_weights()))
