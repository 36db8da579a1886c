# case: list_that_grows_between_micro_batches
# verdict: bug; static: no
# cause: accumulation-variable-drift
# expect_line: 38 41 42 43
# expect_variables: adapter/kernel, trunk/kernel
# symptom_today: silent: after the adapter was inserted at the front, sums and gradients are of different variables
# exit: 0
# fix: fix the variable list (or key the sums by variable) before the window starts
# seen: adapters and extra layers switched on in the middle of training
import keras
import numpy as np
import tensorflow as tf

trunk = keras.layers.Dense(3, use_bias=False, name="trunk")
adapter = keras.layers.Dense(3, use_bias=False, name="adapter")
trunk.build((None, 3)), adapter.build((None, 3))
opt = keras.optimizers.SGD(0.1)


class Pipeline:
    layers = [trunk]

    def __call__(self, x):
        for layer in self.layers:
            x = tf.tanh(layer(x))
        return x

    @property
    def weights(self):
        return [w for layer in self.layers for w in layer.trainable_weights]


pipe = Pipeline()
x = tf.random.normal((16, 3), seed=0)
totals = None
for part in range(4):
    if part == 2:
        pipe.layers = [adapter, trunk]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((pipe(x[part * 4 : part * 4 + 4]) - 0.2) ** 2)
    grads = tape.gradient(loss, pipe.weights)
    totals = grads if totals is None else [t + g for t, g in zip(totals, grads)]
opt.apply_gradients(zip([t / 4.0 for t in totals], pipe.weights))
print(len(totals), [w.path for w in pipe.weights])
assert len(totals) == 1 and len(pipe.weights) == 2
