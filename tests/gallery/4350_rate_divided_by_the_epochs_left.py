# case: rate_divided_by_the_epochs_left
# verdict: bug; static: no
# cause: nan-weights
# expect_line: 20
# expect_variables: adam/learning_rate
# symptom_today: NumPy warns of a division by zero, and the loss is NaN afterwards
# exit: 0
# fix: rate = self.start / max(self.warm - epoch, 1)
import keras
import numpy as np


class WarmUp(keras.callbacks.Callback):
    def __init__(self, start, warm):
        super().__init__()
        self.start, self.warm = np.float32(start), warm

    def on_epoch_begin(self, epoch, logs=None):
        rate = self.start / np.float32(max(self.warm - epoch, 0))
        self.model.optimizer.learning_rate.assign(rate)


keras.utils.set_random_seed(3)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(), loss="mse")
x = np.random.default_rng(3).normal(size=(96, 3)).astype("float32")
y = np.tanh(x[:, :1] - x[:, 1:2])
losses = model.fit(x, y, epochs=8, batch_size=32, verbose=0, callbacks=[WarmUp(0.02, 4)]).history["loss"]
print(losses)
assert np.isnan(losses[-1])
