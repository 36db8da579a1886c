# case: loss_scale_halves_after_overflow
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: the first steps overflow in float16, the loss-scale optimizer skips them and halves the scale, then it trains
# exit: 0
# fix: -
# source: own; look-alike of keras-team/keras#16552
import numpy as np
import tensorflow as tf
import keras

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(0)
inputs = keras.Input((8,))
hidden = keras.layers.Dense(16, activation="relu")(inputs)
model = keras.Model(inputs, keras.layers.Dense(1, dtype="float32")(hidden))
opt = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(1e-2), initial_scale=2.0 ** 20)
model.compile(opt, "mse")

rng = np.random.default_rng(0)
x = rng.normal(size=(128, 8)).astype("float32")
y = 10.0 * x.sum(axis=1, keepdims=True)
log = model.fit(x, y, batch_size=16, epochs=8, verbose=0).history["loss"]
scale = float(opt.dynamic_scale.numpy())
assert scale < 2.0 ** 20 and log[-1] < log[0]
assert all(np.isfinite(w).all() for w in model.get_weights())
print("ok", log[0], log[-1], "scale", scale)
