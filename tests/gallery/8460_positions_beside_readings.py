# case: positions_beside_readings
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: a vision transformer: patches are projected, and a learned position is added to each
import keras
import numpy as np

keras.utils.set_random_seed(3)
x = np.random.normal(size=(192, 6, 4)).astype("float32")
y = (x[:, -1, 0] > x[:, 0, 0]).astype("float32")


class Positions(keras.layers.Layer):
    def __init__(self, length, width):
        super().__init__()
        self.table = keras.layers.Embedding(length, width)
        self.length = length

    def call(self, inputs):
        return inputs + self.table(keras.ops.arange(self.length))


readings = keras.Input((6, 4))
h = Positions(6, 16)(keras.layers.Dense(16)(readings))
h = keras.layers.LayerNormalization()(h + keras.layers.MultiHeadAttention(2, 8)(h, h))
output = keras.layers.Dense(1)(keras.layers.GlobalAveragePooling1D()(h))
model = keras.Model(readings, output)
model.compile(keras.optimizers.Adam(0.01), keras.losses.BinaryCrossentropy(from_logits=True))
losses = model.fit(x, y, epochs=8, verbose=0).history["loss"]
assert losses[-1] < losses[0]
