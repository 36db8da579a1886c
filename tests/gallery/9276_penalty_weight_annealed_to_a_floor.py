# case: penalty_weight_annealed_to_a_floor
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none
# exit: 0
# fix: -
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)


class Smooth(keras.losses.Loss):
    """A Huber-like loss that is drawn narrower from epoch to epoch."""

    def __init__(self):
        super().__init__()
        self.width = tf.Variable(1.0, trainable=False, name="width")

    def call(self, y_true, y_pred):
        miss = (y_true - y_pred) / self.width
        return self.width * tf.reduce_mean(tf.sqrt(1.0 + miss**2) - 1.0, axis=-1)


class Narrower(keras.callbacks.Callback):
    def __init__(self, loss):
        super().__init__()
        self.loss = loss

    def on_epoch_begin(self, epoch, logs=None):
        self.loss.width.assign(max(1.0 - epoch / 30, 0.05))


smooth = Smooth()
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=smooth)
x = np.random.default_rng(2).normal(size=(96, 3)).astype("float32")
y = np.tanh(x[:, :1] - x[:, 1:2])
losses = model.fit(x, y, epochs=36, batch_size=32, verbose=0, callbacks=[Narrower(smooth)]).history["loss"]
print(losses[0], losses[28], losses[-1])
assert losses[-1] < losses[0] / 2
