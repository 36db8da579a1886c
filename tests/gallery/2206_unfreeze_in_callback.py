# case: unfreeze_in_callback
# verdict: bug; static: no
# cause: frozen-by-flag | optimizer-variable-mismatch
# expect_line: 23 36
# expect_variables: backbone/kernel, backbone/bias
# symptom_today: silent: the layer says it is trainable, the traced train function goes on with the old variables
# exit: 0
# fix: fit in two phases and compile again in between
# source: tensorflow/tensorflow#47906 (callback that sets trainable=True has no effect); nasa/delta#58
import numpy as np
import keras

keras.utils.set_random_seed(0)


class Unfreeze(keras.callbacks.Callback):
    def __init__(self, layer_name, at_epoch):
        super().__init__()
        self.layer_name, self.at_epoch = layer_name, at_epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.at_epoch:
            self.model.get_layer(self.layer_name).trainable = True
            print("now trainable:", len(self.model.trainable_weights))


inputs = keras.Input((8,))
backbone = keras.layers.Dense(16, activation="relu", name="backbone")
backbone.trainable = False
model = keras.Model(inputs, keras.layers.Dense(1, name="head")(backbone(inputs)))
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")

x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = (x[:, :1] * x[:, 1:2]).astype("float32")
frozen = backbone.get_weights()[0].copy()
model.fit(x, y, epochs=6, batch_size=16, verbose=0, callbacks=[Unfreeze("backbone", 2)])
print("backbone moved:", not np.array_equal(frozen, backbone.get_weights()[0]))
assert np.array_equal(frozen, backbone.get_weights()[0])
