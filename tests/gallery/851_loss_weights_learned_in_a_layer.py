# case: loss_weights_learned_in_a_layer
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: uncertainty weighting of two losses, parameters tracked properly
import keras
import numpy as np
import tensorflow as tf


class Balanced(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.layers.Dense(8, activation="relu")
        self.a, self.b = keras.layers.Dense(1), keras.layers.Dense(1)
        self.log_sigma = self.add_weight(shape=(2,), initializer="zeros", name="log_sigma")

    def call(self, x):
        h = self.trunk(x)
        return {"a": self.a(h), "b": self.b(h)}

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        losses = tf.stack([tf.reduce_mean((y[k] - y_pred[k]) ** 2) for k in ("a", "b")])
        sigma = tf.convert_to_tensor(self.log_sigma)
        return tf.reduce_sum(tf.exp(-sigma) * losses + sigma)


keras.utils.set_random_seed(3)
net = Balanced()
net.compile(keras.optimizers.Adam(0.02))
x = np.random.default_rng(3).normal(size=(64, 4)).astype("float32")
log = net.fit(x, {"a": x[:, :1], "b": 5 * x[:, 1:2]}, epochs=5, verbose=0).history["loss"]
print(log, net.log_sigma.numpy())
assert log[-1] < log[0] and (net.log_sigma.numpy() != 0).all()
