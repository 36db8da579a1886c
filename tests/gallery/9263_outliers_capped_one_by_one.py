# case: outliers_capped_one_by_one
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
from keras import ops

keras.utils.set_random_seed(105)


def trimmed_squares(y_true, y_pred):
    error = ops.mean(ops.square(y_true - y_pred), axis=-1)
    return ops.minimum(error, 25.0)          # a few wild labels shall not pull at all


rng = np.random.default_rng(0)
x = rng.normal(size=(128, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)
y[::20] += 100.0
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.05), loss=trimmed_squares)
history = model.fit(x, y, batch_size=32, epochs=15, verbose=0)
clean = np.ones(128, bool)
clean[::20] = False
error = float(np.mean((model.predict(x, verbose=0)[clean] - y[clean]) ** 2))
print(history.history["loss"][0], history.history["loss"][-1], error)
assert error < 0.5
