# case: loss_weights_as_variables
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(107)
inputs = keras.Input((6,))
trunk = layers.Dense(12, activation="relu")(inputs)
model = keras.Model(inputs, [layers.Dense(1, name="segment")(trunk), layers.Dense(1, name="depth")(trunk)])
weights = [keras.Variable(1.0, trainable=False), keras.Variable(0.0, trainable=False)]
model.compile(optimizer=keras.optimizers.Adam(0.02), loss=["mse", "mse"], loss_weights=weights)


class BringInDepth(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        weights[1].assign(0.0 if epoch < 2 else 1.0)


x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
y = [x[:, :1], 3.0 + x[:, 1:2]]
before = model.get_layer("depth").get_weights()[0].copy()
model.fit(x, y, epochs=6, batch_size=16, verbose=0, callbacks=[BringInDepth()])
moved = np.abs(model.get_layer("depth").get_weights()[0] - before).max()
print("depth moved by", moved)
assert moved > 0
