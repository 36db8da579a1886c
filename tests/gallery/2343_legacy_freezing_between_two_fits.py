# case: legacy_freezing_between_two_fits
# verdict: bug; static: no
# cause: frozen-by-flag | optimizer-variable-mismatch
# expect_line: 16 23 24
# expect_variables: dense/*
# symptom_today: silent: the train function was traced before the flag changed, base goes on training
# exit: 0
# fix: compile again after changing trainable
# seen: two-phase training with one compile
import tf_keras as keras
import numpy as np

keras.utils.set_random_seed(9)
base = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(5, activation="relu")], name="base")
model = keras.Sequential([base, keras.layers.Dense(2, activation="softmax")])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy")
rng = np.random.default_rng(9)
x = rng.normal(size=(64, 6)).astype("float32")
y = (x[:, 0] > 0).astype("int32")


def phase(epochs, train_base):
    base.trainable = train_base
    return model.fit(x, y, epochs=epochs, batch_size=16, verbose=0).history["loss"][-1]


print("warm-up", phase(epochs=2, train_base=True))
supposedly_frozen = base.get_weights()[0].copy()
print("head only", phase(epochs=2, train_base=False))
assert not np.array_equal(supposedly_frozen, base.get_weights()[0])
