# case: mixture_of_experts_top_k
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class SparseMixture(keras.layers.Layer):
    def __init__(self, n_experts, units, k=2, **kw):
        super().__init__(**kw)
        self.k = k
        self.router = keras.layers.Dense(n_experts, name="router")
        self.experts = [keras.layers.Dense(units, activation="tanh", name=f"expert_{i}") for i in range(n_experts)]

    def build(self, shape):
        for layer in (self.router, *self.experts):
            layer.build(shape)

    def call(self, x):
        values, chosen = tf.math.top_k(self.router(x), k=self.k)
        weights = tf.nn.softmax(values)                                   # the values are differentiable, the indices only choose
        stacked = tf.stack([expert(x) for expert in self.experts], axis=1)
        picked = tf.gather(stacked, chosen, batch_dims=1)
        return tf.reduce_sum(weights[:, :, None] * picked, axis=1)


inp = keras.Input((4,))
moe = SparseMixture(4, 6, name="moe")
model = keras.Model(inp, keras.layers.Dense(1)(moe(inp)))
model.compile(keras.optimizers.Adam(1e-2), "mse")
x = np.random.default_rng(0).normal(size=(96, 4)).astype("float32")
before = [w.copy() for w in moe.get_weights()]
loss = model.fit(x, np.sin(2 * x[:, :1]), epochs=8, verbose=0).history["loss"]
assert loss[-1] < loss[0] and all(not np.array_equal(a, b) for a, b in zip(before, moe.get_weights()))
print("ok", loss[0], loss[-1])
