# case: masked_sequences
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: Embedding with mask_zero, LSTM and a masked loss in fit
import keras
import numpy as np

keras.utils.set_random_seed(4)
ids = keras.Input((7,), dtype="int32")
h = keras.layers.Embedding(20, 6, mask_zero=True)(ids)
h = keras.layers.Bidirectional(keras.layers.LSTM(4, return_sequences=True))(h)
model = keras.Model(ids, keras.layers.Dense(3)(h))


def masked_xent(y_true, y_pred):
    keep = keras.ops.cast(y_true >= 0, "float32")
    safe = keras.ops.maximum(y_true, 0)
    each = keras.losses.sparse_categorical_crossentropy(safe, y_pred, from_logits=True)
    return each * keep


model.compile(optimizer=keras.optimizers.Adam(0.02), loss=masked_xent)
rng = np.random.default_rng(4)
x = rng.integers(1, 20, size=(40, 7))
y = x % 3
for row, length in enumerate(rng.integers(3, 8, size=40)):
    x[row, length:], y[row, length:] = 0, -1
log = model.fit(x, y, epochs=5, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0]
