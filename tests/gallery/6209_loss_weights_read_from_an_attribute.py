# case: loss_weights_read_from_an_attribute
# verdict: bug; static: yes
# cause: python-state-in-graph; also: zero-gradient-op at line 35
# expect_line: 35 43 52
# expect_variables: - (the Python number self.share: the reconstruction weight stays 0.0)
# symptom_today: silent: the weight of the second term stays at its value of the first trace
# exit: 0
# fix: keep the weight in a non-trainable variable and assign it in the callback
# source: FlamTeam/flamedisx#13 (attributes set from Python are not seen by the single trace), tensorflow/tensorflow#31323
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class TwoTerm(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.layers.Dense(12, activation="tanh")
        self.label = keras.layers.Dense(1)
        self.back = keras.layers.Dense(5)
        self.share = 0.0

    def call(self, x):
        h = self.body(x)
        return self.label(h), self.back(h)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            label, back = self(x, training=True)
            fit_term = tf.reduce_mean(tf.square(label - y))
            rec_term = tf.reduce_mean(tf.square(back - x))
            loss = (1.0 - self.share) * fit_term + self.share * rec_term
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"fit": fit_term, "rec": rec_term}


class Ramp(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.share = min(0.9, 0.3 * epoch)


model = TwoTerm()
model.compile(keras.optimizers.Adam(1e-2))
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 5)).astype("float32")
model(x[:1])
before = model.back.get_weights()[0].copy()
hist = model.fit(x, x[:, :1], epochs=5, verbose=0, callbacks=[Ramp()])
print(hist.history["rec"], "share", model.share)
assert np.array_equal(before, model.back.get_weights()[0])
