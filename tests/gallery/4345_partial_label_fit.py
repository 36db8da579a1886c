# case: partial_label_fit
# verdict: bug
# cause: nan-empty-reduce
# expect_line: 20
# expect_variables: -
# symptom_today: training with missing labels selected away in the loss and an empty selection giving a NaN mean
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(10)
MISSING = -1.0


def labelled_mse(y_true, y_pred):
    known = tf.not_equal(y_true, MISSING)
    error = tf.square(tf.boolean_mask(y_pred, known) - tf.boolean_mask(y_true, known))
    return tf.reduce_mean(error)


def make_model():
    model = keras.Sequential([
        keras.Input((7,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1),
    ])
    model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=labelled_mse)
    return model


def survey(n=240):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(n, 7)).astype("float32")
    y = np.abs(x[:, :1] * 2.0 + x[:, 1:2])
    y[rng.uniform(size=n) < 0.8] = MISSING
    return x, y.astype("float32")


class History(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(logs["loss"])


x, y = survey()
model = make_model()
record = History()
model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0, callbacks=[record])
print("first losses", record.losses[:6])
print("last losses", record.losses[-3:])
