# case: own_elu_of_unscaled_readings
# verdict: bug; static: yes
# cause: nan-where | nan-exp
# expect_line: 18
# expect_variables: *
# symptom_today: silent: the forward value is finite, the gradient is NaN in the first step
# exit: 0
# fix: exp(minimum(x, 0)) inside, then where
# source: tensorflow/tensorflow#38349 (an infinite value in the branch not taken gives a NaN gradient)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(22)


def scaled_elu(x, alpha=1.67, scale=1.05):
    return scale * ops.where(x > 0, x, alpha * (ops.exp(x) - 1.0))


sensor = np.random.default_rng(0).uniform(200, 900, size=(64, 4)).astype("float32")
wear = (sensor.mean(axis=1, keepdims=True) / 100.0).astype("float32")
model = keras.Sequential([
    keras.layers.Input((4,)),
    keras.layers.Dense(12, activation=scaled_elu),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mae")
first = model.evaluate(sensor, wear, verbose=0)
history = model.fit(sensor, wear, batch_size=16, epochs=2, verbose=0)
print("before:", first, "after:", history.history["loss"])
assert np.isfinite(first) and np.isnan(model.get_weights()[0]).any()
