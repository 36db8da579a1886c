# case: regressor_train_step
# verdict: bug
# cause: loss-shape-broadcast
# expect_line: 35
# expect_variables: -
# symptom_today: a target of shape [n] against a prediction of shape [n, 1] gives another loss without a word
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(14)


class QuantileRegressor(keras.Model):
    def __init__(self, quantile=0.5):
        super().__init__()
        self.quantile = quantile
        self.hidden = keras.layers.Dense(32, activation="relu")
        self.out = keras.layers.Dense(1)
        self.pinball = keras.metrics.Mean(name="pinball")

    @property
    def metrics(self):
        return [self.pinball]

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            diff = y - pred
            loss = tf.reduce_mean(tf.maximum(self.quantile * diff, (self.quantile - 1.0) * diff))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.pinball.update_state(loss)
        return {"pinball": self.pinball.result()}


def load(n=512):
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, size=(n, 3)).astype("float32")
    y = 3.0 * x[:, 0] - x[:, 1] + 0.1 * rng.normal(size=n)
    return x, y.astype("float32")


x, y = load()
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=0).batch(64)
model = QuantileRegressor()
model.compile(optimizer=keras.optimizers.Adam(1e-2))
history = model.fit(train, epochs=8, verbose=0)
pred = model.predict(x, verbose=0)[:, 0]
print("pinball", history.history["pinball"][0], history.history["pinball"][-1])
print("correlation", np.corrcoef(pred, y)[0, 1], "spread", pred.std(), "of", y.std())
