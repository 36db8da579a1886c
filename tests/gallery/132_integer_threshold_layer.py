# case: integer_threshold_layer
# verdict: bug; static: no
# cause: int-variable
# expect_line: 16 24 32
# expect_variables: cutoff
# symptom_today: Keras warns about cutoff; it stays at 2
# exit: 0
# fix: dtype="float32" for a weight that is trained
# seen: add_weight with an integer dtype and trainable left at its default
import keras
import numpy as np


class Cutoff(keras.layers.Layer):
    def build(self, shape):
        self.cutoff = self.add_weight(
            shape=(),
            dtype="int32",
            initializer=keras.initializers.Constant(2),
            name="cutoff",
        )

    def call(self, x):
        limit = keras.ops.cast(self.cutoff, x.dtype)
        return keras.ops.relu(x - 0.1 * limit)


limit = Cutoff()
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4), limit, keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.05), "mse")
x = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
model.fit(x, x[:, 1:2], epochs=2, verbose=0)
print(int(limit.cutoff.numpy()))
assert int(limit.cutoff.numpy()) == 2
