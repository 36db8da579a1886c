# case: weight_averaging_callback
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the averaged weights are written into the model when training has ended
# exit: 0
# fix: -
# source: own; stochastic weight averaging, look-alike of google/automl PR#883
import numpy as np
import keras

keras.utils.set_random_seed(0)


class SWA(keras.callbacks.Callback):
    def __init__(self, start):
        super().__init__()
        self.start, self.count, self.mean = start, 0, None

    def on_epoch_end(self, epoch, logs=None):
        if epoch < self.start:
            return
        weights = self.model.get_weights()
        self.count += 1
        if self.mean is None:
            self.mean = [w.copy() for w in weights]
        else:
            self.mean = [m + (w - m) / self.count for m, w in zip(self.mean, weights)]

    def on_train_end(self, logs=None):
        self.model.set_weights(self.mean)


rng = np.random.default_rng(0)
x = rng.normal(size=(96, 6)).astype("float32")
y = (x @ rng.normal(size=(6, 1)) + 0.3 * rng.normal(size=(96, 1))).astype("float32")
model = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(16, activation="swish"), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.05, momentum=0.9), "mse")
start = model.evaluate(x, y, verbose=0)
swa = SWA(start=5)
model.fit(x, y, batch_size=12, epochs=12, verbose=0, callbacks=[swa])
end = model.evaluate(x, y, verbose=0)
assert end < start and swa.count == 7
print("ok", start, end)
