# case: square_root_of_rectified_features
# verdict: bug; static: no
# cause: nan-sqrt
# expect_line: 17
# expect_variables: middle/*
# symptom_today: silent: the kernel of `middle` is NaN after the first step, predictions are NaN
# exit: 0
# fix: keras.ops.sqrt(x + 1e-6)
# source: keras-team/keras#13203 (a Lambda with sqrt makes the loss NaN on the CPU)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(20)
left = keras.Input((10,), name="raw_left")
h = layers.Dense(16, activation="relu", name="middle")(left)
h = layers.Lambda(lambda t: keras.ops.sqrt(t), name="power_transform")(h)
score = layers.Dense(1, name="score")(h)
model = keras.Model(left, score)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")

x = np.random.default_rng(0).normal(size=(64, 10)).astype("float32")
y = x[:, :1] ** 2
history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)
print(history.history["loss"])
assert np.isnan(model.get_weights()[0]).any()
print("evaluated:", model.evaluate(x, y, verbose=0))
