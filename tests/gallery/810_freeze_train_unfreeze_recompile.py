# case: freeze_train_unfreeze_recompile
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: transfer learning in two phases
import keras
import numpy as np

keras.utils.set_random_seed(6)
base = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(8, activation="relu"), keras.layers.BatchNormalization()], name="base")
inputs = keras.Input((10,))
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(base(inputs, training=False)))
x = np.random.default_rng(6).normal(size=(96, 10)).astype("float32")
y = (x[:, 0] > 0).astype("float32")[:, None]


def phase(trainable, rate, epochs):
    base.trainable = trainable
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="binary_crossentropy")
    return model.fit(x, y, epochs=epochs, verbose=0).history["loss"]


kept = base.get_weights()[0].copy()
phase(False, 1e-2, 2)
assert np.array_equal(kept, base.get_weights()[0])
log = phase(True, 1e-3, 3)
assert not np.array_equal(kept, base.get_weights()[0])
print(log)
