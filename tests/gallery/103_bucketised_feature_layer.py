# case: bucketised_feature_layer
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 24
# expect_variables: projector/kernel, projector/bias
# symptom_today: Keras warns that gradients do not exist for projector/*; the rest trains
# exit: 0
# fix: bucketise raw inputs, not learned ones; or use soft bins (softmax of distances)
# seen: learned quantisation layers in tabular models
import keras
import numpy as np
import tensorflow as tf


class SoftTable(keras.layers.Layer):
    """Looks up one row per bucket of its input."""

    def __init__(self, edges, width):
        super().__init__()
        self.edges = edges
        self.rows = keras.layers.Embedding(len(edges) + 1, width)

    def call(self, values):
        bucket = tf.searchsorted(self.edges, tf.reshape(values, (-1,)))
        return self.rows(bucket)


inp = keras.Input((5,))
score = keras.layers.Dense(1, name="projector")(inp)
rows = SoftTable(edges=[-1.0, -0.3, 0.3, 1.0], width=4)(score)
net = keras.Model(inp, keras.layers.Dense(1, name="readout")(rows))
net.compile(keras.optimizers.Adam(0.02), "mse")
x = np.random.default_rng(0).normal(size=(80, 5)).astype("float32")
y = x[:, :1] * 2
before = net.get_layer("projector").get_weights()[0].copy()
history = net.fit(x, y, batch_size=20, epochs=3, verbose=0).history["loss"]
print(history)
assert history[-1] < history[0]
assert np.array_equal(before, net.get_layer("projector").get_weights()[0])
