# case: legacy_model_with_some_weights_before_it_is_built
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: a model of legacy Keras of which one layer is built before `fit` builds the rest
# exit: 0
# fix: -
# source: own words
import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(0)


class Anchored(keras.Model):
    def __init__(self, anchors):
        super().__init__()
        self.anchors = tf.Variable(anchors, dtype=tf.float32, name="anchors")
        self.hidden = keras.layers.Dense(8, "tanh")
        self.hidden.build((None, len(anchors)))
        self.head = keras.layers.Dense(1)

    def call(self, x):
        distance = tf.reduce_sum((x[:, None] - self.anchors[None]) ** 2, -1)
        return self.head(self.hidden(tf.exp(-distance)))


x = np.random.default_rng(0).normal(size=(64, 2)).astype("float32")
y = np.sin(x[:, :1])
model = Anchored(x[:6])
model.compile(keras.optimizers.Adam(0.02), "mse")
losses = model.fit(x, y, epochs=6, verbose=0).history["loss"]
assert losses[-1] < losses[0]
