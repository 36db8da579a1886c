# case: only_new_tokens_of_the_table_learn
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
from keras import ops

keras.utils.set_random_seed(0)


class PartlyFrozenEmbedding(keras.layers.Layer):
    """Rows of the old vocabulary stay as they are, rows of the new tokens are trained."""

    def __init__(self, old_table, n_new, **kw):
        super().__init__(**kw)
        size = old_table.shape[0] + n_new
        self.table = self.add_weight(shape=(size, old_table.shape[1]), initializer="random_normal", name="table")
        self.table.assign(np.concatenate([old_table, self.table.numpy()[-n_new:]]))
        self.is_new = (np.arange(size) >= old_table.shape[0]).astype("float32")[:, None]

    def call(self, ids):
        table = ops.convert_to_tensor(self.table)
        new = ops.convert_to_tensor(self.is_new)
        table = new * table + (1.0 - new) * ops.stop_gradient(table)
        return ops.take(table, ids, axis=0)


rng = np.random.default_rng(0)
old = rng.normal(size=(10, 4)).astype("float32")
ids_in = keras.Input((5,), dtype="int32")
embedding = PartlyFrozenEmbedding(old, 3, name="embedding")
model = keras.Model(ids_in, keras.layers.Dense(1)(keras.layers.GlobalAveragePooling1D()(embedding(ids_in))))
model.compile(keras.optimizers.SGD(0.5), "mse")
ids = rng.integers(0, 13, size=(64, 5)).astype("int32")
loss = model.fit(ids, (ids >= 10).mean(1, keepdims=True).astype("float32"), epochs=6, verbose=0).history["loss"]
after = embedding.table.numpy()
assert np.array_equal(after[:10], old) and loss[-1] < loss[0]
print("ok", loss[0], loss[-1])
