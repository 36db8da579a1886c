# case: gradual_thaw
# verdict: bug
# cause: frozen-by-flag | optimizer-variable-mismatch
# expect_line: 39 60
# expect_variables: leaf_low/*, leaf_mid/*
# symptom_today: no warning; the thawed layers stay exactly where they were (printed movement 0.0)
# exit: 0
# fix: compile again (with a new optimizer) at each thaw, with one fit per stage
# source: nasa/delta#58, keras-team/keras#22413
import numpy as np
import keras

keras.utils.set_random_seed(17)


def spectra(n, mix):
    x = np.random.normal(size=(n, 12)).astype("float32")
    y = np.tanh(x @ mix).sum(axis=1, keepdims=True) / 2.0
    return x, y.astype("float32")


def make_body():
    return [
        keras.layers.Dense(24, activation="tanh", name="leaf_low"),
        keras.layers.Dense(24, activation="tanh", name="leaf_mid"),
    ]


class ThawCallback(keras.callbacks.Callback):
    """Opens one more layer at the given epochs, from the top down."""

    def __init__(self, plan):
        super().__init__()
        self.plan = plan

    def on_epoch_begin(self, epoch, logs=None):
        if epoch in self.plan:
            layer = self.model.get_layer(self.plan[epoch])
            layer.trainable = True
            print(f"epoch {epoch}: {layer.name} opened")


old_mix = np.random.normal(size=(12, 3)) / 3.0
new_mix = np.random.normal(size=(12, 3)) / 3.0

x_old, y_old = spectra(768, old_mix)
body = make_body()
pretrained = keras.Sequential([keras.Input((12,)), *body, keras.layers.Dense(1, name="old_head")])
pretrained.compile(optimizer=keras.optimizers.Adam(0.005), loss="mse")
pretrained.fit(x_old, y_old, batch_size=64, epochs=6, verbose=0)

x_new, y_new = spectra(768, new_mix)
model = keras.Sequential([keras.Input((12,)), *body, keras.layers.Dense(1, name="new_head")])
for layer in body:
    layer.trainable = False
start = {layer.name: layer.get_weights()[0].copy() for layer in body}

model.compile(optimizer=keras.optimizers.Adam(0.003), loss="mse")
thaw = ThawCallback({4: "leaf_mid", 8: "leaf_low"})
log = model.fit(x_new, y_new, batch_size=64, epochs=16, verbose=0, callbacks=[thaw])
print("mse", [round(v, 4) for v in log.history["loss"][::3]])
for layer in body:
    moved = np.abs(layer.get_weights()[0] - start[layer.name]).max()
    print(f"{layer.name} moved by {moved:.5f}")
