# case: loss_scale_that_finds_its_level
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: dynamic loss scaling overflows in the first steps and skips them, by design
import keras
import numpy as np

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(9)
net = keras.Sequential([keras.layers.Input((12,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1, dtype="float32")])
inner = keras.optimizers.Adam(0.01)
opt = keras.optimizers.LossScaleOptimizer(inner, initial_scale=2.0**24, dynamic_growth_steps=1000)
net.compile(optimizer=opt, loss="mse")
x = np.random.default_rng(9).normal(size=(320, 12)).astype("float32") * 10
y = x[:, :1]
log = net.fit(x, y, batch_size=8, epochs=2, verbose=0).history["loss"]
print(log, float(opt.dynamic_scale.numpy()), int(inner.iterations))
assert log[-1] < log[0] and float(opt.dynamic_scale.numpy()) < 2.0**24
