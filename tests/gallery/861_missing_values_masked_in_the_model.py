# case: missing_values_masked_in_the_model
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: NaN in the table, handled inside the network
import keras
import numpy as np
from keras import ops


class Impute(keras.layers.Layer):
    def build(self, shape):
        self.fill = self.add_weight(shape=(shape[-1],), initializer="zeros", name="fill")

    def call(self, x):
        gone = ops.isnan(x)
        filled = ops.where(gone, ops.zeros_like(x), x) + ops.cast(gone, x.dtype) * self.fill
        return ops.concatenate([filled, ops.cast(gone, x.dtype)], axis=-1)


keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)
x = rng.normal(size=(120, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)
x[rng.uniform(size=x.shape) < 0.2] = np.nan
net = keras.Sequential([keras.layers.Input((4,)), Impute(), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
net.compile(keras.optimizers.Adam(0.02), "mse")
log = net.fit(x, y, epochs=6, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0] and np.isfinite(log).all()
