# case: activation_name_reused_on_purpose
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
from keras import layers

keras.utils.set_random_seed(103)


class Mixer(keras.Model):
    def __init__(self, depth=3, width=8):
        super().__init__()
        self.stem = layers.Dense(width)
        self.blocks = []
        for i in range(depth):
            self.blocks.append((layers.LayerNormalization(), layers.Dense(width, activation="gelu")))
        self.tail = layers.Dense(2)

    def call(self, x, training=None):
        x = self.stem(x)
        for norm, dense in self.blocks:
            x = x + dense(norm(x))
        return self.tail(x)


x = np.random.default_rng(0).normal(size=(96, 5)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int32")
model = Mixer()
model.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(x, y, epochs=12, batch_size=32, verbose=0)
print(len(model.trainable_variables), history.history["loss"][0], history.history["loss"][-1])
assert len(model.trainable_variables) == 16 and history.history["loss"][-1] < history.history["loss"][0]
