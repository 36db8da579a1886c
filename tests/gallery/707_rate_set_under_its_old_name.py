# case: rate_set_under_its_old_name
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 20
# expect_variables: - (the learning rate)
# symptom_today: silent: optimizer.lr is a new attribute in Keras 3; the rate stays as it was
# exit: 0
# fix: optimizer.learning_rate = ...
# seen: schedules written for Keras 2
import keras
import numpy as np


class StepDecay(keras.callbacks.Callback):
    def __init__(self, start=0.1, drop=0.5):
        super().__init__()
        self.start, self.drop = start, drop

    def on_epoch_begin(self, epoch, logs=None):
        self.model.optimizer.lr = self.start * self.drop**epoch


model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
model.fit(x, x[:, :1], epochs=4, verbose=0, callbacks=[StepDecay()])
print(float(model.optimizer.learning_rate.numpy()), model.optimizer.lr)
assert np.isclose(float(model.optimizer.learning_rate.numpy()), 0.1)
