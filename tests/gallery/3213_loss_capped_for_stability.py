# case: loss_capped_for_stability
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 19
# expect_variables: sequential/*
# symptom_today: silent: the loss stays at the cap for ever, all gradients are zero
# exit: 0
# fix: clip the gradients (clipnorm) or scale the targets, do not clip the loss
# source: keras-team/keras#20496 (own loss whose value never changes)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(19)


def capped_mse(y_true, y_pred):
    error = ops.mean(ops.square(y_true - y_pred), axis=-1)
    return ops.clip(error, 0.0, 10.0)


rng = np.random.default_rng(0)
rooms = rng.normal(size=(64, 3)).astype("float32")
price = (250.0 + 40.0 * rooms[:, :1]).astype("float32")
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.05), loss=capped_mse)
start = [w.copy() for w in model.get_weights()]
history = model.fit(rooms, price, batch_size=16, epochs=5, verbose=0)
print(history.history["loss"])
assert all(np.array_equal(a, b) for a, b in zip(start, model.get_weights()))
