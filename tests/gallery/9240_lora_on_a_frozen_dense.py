# case: lora_on_a_frozen_dense
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (keras enable_lora)
import numpy as np
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(96, 6)).astype("float32")
y = np.tanh(x @ rng.normal(size=(6, 1))).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(24, activation="tanh", name="body"), keras.layers.Dense(1, name="head")])
model.compile(keras.optimizers.Adam(1e-2), "mse")
model.fit(x, y, epochs=5, verbose=0)

base = np.array(model.get_layer("body").kernel)
model.get_layer("body").enable_lora(rank=2)
model.get_layer("head").trainable = False
model.compile(keras.optimizers.Adam(2e-2), "mse")
print("trained now:", [v.path for v in model.trainable_variables])
history = model.fit(x, -y, epochs=10, verbose=0)
print(history.history["loss"][0], history.history["loss"][-1])
assert history.history["loss"][-1] < history.history["loss"][0]
assert not np.array_equal(base, np.array(model.get_layer("body").kernel))
