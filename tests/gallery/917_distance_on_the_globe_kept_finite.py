# case: distance_on_the_globe_kept_finite
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: location models with a guarded haversine and a guarded spread
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)


def haversine(a, b):
    lat1, lon1, lat2, lon2 = a[:, 0], a[:, 1], b[:, 0], b[:, 1]
    h = tf.sin((lat2 - lat1) / 2.0) ** 2 + tf.cos(lat1) * tf.cos(lat2) * tf.sin((lon2 - lon1) / 2.0) ** 2
    return 2.0 * tf.asin(tf.sqrt(tf.clip_by_value(h, 1e-9, 1.0 - 1e-9)))


class Locator(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.layers.Dense(16, activation="relu")
        self.place = keras.layers.Dense(2, kernel_initializer="zeros")
        self.spread = keras.layers.Dense(1, activation="softplus")

    def call(self, x):
        h = self.body(x)
        return tf.concat([self.place(h), self.spread(h) + 1e-3], axis=1)


def laplace_nll(y_true, y_pred):
    distance, spread = haversine(y_true, y_pred[:, :2]), y_pred[:, 2]
    return distance / spread + tf.math.log(spread)


rng = np.random.default_rng(6)
x = rng.normal(size=(64, 4)).astype("float32")
y = (0.2 * x[:, :2]).astype("float32")
y[0] = 0.0
model = Locator()
model.compile(keras.optimizers.Adam(0.01), laplace_nll)
losses = model.fit(x, y, epochs=5, verbose=0).history["loss"]
assert np.isfinite(losses).all() and losses[-1] < losses[0]
