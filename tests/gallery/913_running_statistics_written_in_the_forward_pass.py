# case: running_statistics_written_in_the_forward_pass
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a normalising layer that updates its own non-trainable state
import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(2)


class RunningScale(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", trainable=False, name="scale")
        self.seen = self.add_weight(shape=(), initializer="zeros", dtype="int32", trainable=False, name="seen")
        self.gain = self.add_weight(shape=(shape[-1],), initializer="ones", name="gain")

    def call(self, x, training=False):
        if training:
            size = ops.mean(ops.abs(x), axis=0)
            self.scale.assign(0.9 * self.scale + 0.1 * ops.stop_gradient(size))
            self.seen.assign(self.seen + 1)
        return self.gain * x / (self.scale + 1e-6)


layer = RunningScale()
model = keras.Sequential(
    [keras.layers.Input((5,)), layer, keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mae")
x = (10.0 * np.random.default_rng(2).normal(size=(64, 5))).astype("float32")
losses = model.fit(x, x[:, :1] / 10.0, epochs=5, batch_size=16, verbose=0).history["loss"]
print(layer.scale.numpy(), int(layer.seen.numpy()))
assert losses[-1] < losses[0] and int(layer.seen.numpy()) == 20
