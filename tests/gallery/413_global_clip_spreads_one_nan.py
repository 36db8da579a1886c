# case: global_clip_spreads_one_nan
# verdict: bug; static: no
# cause: nan-clip | nan-log | nan-where | nan-sqrt
# expect_line: 17 21
# expect_variables: * (born in side/*)
# symptom_today: silent: global_clipnorm turns one NaN gradient into NaN everywhere
# exit: 0
# fix: mend the side branch (or skip non-finite steps) before clipping
# seen: global_clipnorm set in the optimizer of a fit
import keras
import numpy as np

keras.utils.set_random_seed(0)
inp = keras.Input((4,))
main = keras.layers.Dense(1, name="main")(inp)
side = keras.layers.Dense(1, kernel_initializer="zeros", name="side")(inp)
distance = keras.layers.Lambda(lambda t: keras.ops.sqrt(keras.ops.abs(t)), name="distance")(side)
net = keras.Model(inp, [main, distance])
net.compile(optimizer=keras.optimizers.SGD(0.01, global_clipnorm=1.0), loss=["mse", "mae"])
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
net.fit(x, [x[:, :1], np.ones((32, 1), "float32")], epochs=1, verbose=0)
print(net.get_layer("main").get_weights()[0].ravel())
assert np.isnan(net.get_layer("main").get_weights()[0]).all()
