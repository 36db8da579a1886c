# case: low_rank_adapter_starts_at_zero
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

keras.utils.set_random_seed(0)


class LoraDense(keras.layers.Layer):
    def __init__(self, base, rank=2, **kw):
        super().__init__(**kw)
        self.base, self.rank = base, rank
        self.base.trainable = False

    def build(self, shape):
        if not self.base.built:
            self.base.build(shape)
        self.a = self.add_weight(shape=(shape[-1], self.rank), initializer="he_normal", name="a")
        self.b = self.add_weight(shape=(self.rank, self.base.units), initializer="zeros", name="b")   # so the first gradient of a is zero

    def call(self, x):
        return self.base(x) + ops.matmul(ops.matmul(x, self.a), self.b)


inp = keras.Input((6,))
base = keras.layers.Dense(6, name="base")
lora = LoraDense(base, name="lora")
model = keras.Model(inp, lora(inp))
model.compile(keras.optimizers.Adam(2e-2), "mse")
x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
kernel, a = base.get_weights()[0].copy(), lora.a.numpy().copy()
y = x @ kernel + np.outer(x[:, 0], np.arange(6) / 6).astype("float32")
loss = model.fit(x, y, epochs=15, verbose=0).history["loss"]
assert np.array_equal(kernel, base.get_weights()[0]) and not np.array_equal(a, lora.a.numpy()) and loss[-1] < loss[0]
print("ok", loss[0], loss[-1])
