# case: loss_weights_list_edited_by_a_callback
# verdict: bug; static: no
# cause: python-state-in-graph
# expect_line: 26 20
# expect_variables: depth/*
# symptom_today: silent: the second task keeps the weight 0 it was compiled with
# exit: 0
# fix: give keras.Variable objects as loss_weights and assign them in the callback
# source: keras-team/keras#2595, keras-team/keras#6446 (loss weights changed in the middle of the training have no effect)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(28)
inputs = keras.Input((6,))
trunk = layers.Dense(12, activation="relu", name="trunk")(inputs)
outputs = [layers.Dense(1, name="segment")(trunk), layers.Dense(1, name="depth")(trunk)]
model = keras.Model(inputs, outputs)
weights = [1.0, 0.0]
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=["mse", "mse"], loss_weights=weights)


class BringInDepth(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch >= 2:
            weights[1] = 1.0
            print("epoch", epoch, "weights", weights)


x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
y = [x[:, :1], 3.0 + x[:, 1:2]]
before = model.get_layer("depth").get_weights()[0].copy()
history = model.fit(x, y, epochs=5, batch_size=16, verbose=0, callbacks=[BringInDepth()])
print(history.history["loss"])
assert np.array_equal(before, model.get_layer("depth").get_weights()[0])
