# case: zero_inflated_loss
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: replace dangerous inputs inside the branch as well, the advice given in
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(22)


def hurdle_loss(y_true, y_pred):
    logit, raw = y_pred[:, :1], y_pred[:, 1:]
    positive = y_true > 0.0
    safe_y = tf.where(positive, y_true, tf.ones_like(y_true))
    mean = tf.nn.softplus(raw) + 1e-3
    gate = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(positive, tf.float32), logits=logit)
    spread = tf.square(tf.math.log(safe_y) - tf.math.log(mean))
    amount = tf.where(positive, spread, tf.zeros_like(spread))
    return tf.reduce_mean(gate + amount)


class Rainfall(keras.Model):
    def __init__(self):
        super().__init__()
        self.norm = keras.layers.Normalization()
        self.hidden = keras.layers.Dense(24, activation="relu")
        self.out = keras.layers.Dense(2)

    def call(self, x):
        return self.out(self.hidden(self.norm(x)))


def stations(n=400):
    rng = np.random.default_rng(7)
    x = rng.normal(loc=10.0, scale=3.0, size=(n, 4)).astype("float32")
    wet = x[:, 0] + rng.normal(size=n) > 11.0
    amount = np.exp(0.3 * (x[:, 1] - 10.0)) * wet
    return x, amount.astype("float32")[:, None]


x, y = stations()
model = Rainfall()
model.norm.adapt(x)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=hurdle_loss)
history = model.fit(x, y, epochs=8, batch_size=40, validation_split=0.2, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1], "val", history.history["val_loss"][-1])
