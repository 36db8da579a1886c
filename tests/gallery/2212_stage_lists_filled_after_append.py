# case: stage_lists_filled_after_append
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 24 25 26
# expect_variables: dense/*, dense_1/*, dense_2/*, dense_3/* (the layers of the stages)
# symptom_today: silent: only out/kernel and out/bias are in the model
# exit: 0
# fix: fill the list first and append it then (or use keras.Sequential for a stage)
# source: tensorflow/tensorflow#29073 and keras-team/keras#20598 (encoder layers as a list of lists)
import numpy as np
import keras

keras.utils.set_random_seed(0)


class StagedEncoder(keras.Model):
    """Encoder made of stages; each stage is a list of layers."""

    def __init__(self, widths):
        super().__init__()
        self.stages = []
        for width in widths:
            stage = []
            self.stages.append(stage)
            stage.append(keras.layers.Dense(width, activation="relu"))
            stage.append(keras.layers.Dense(width))
        self.out = keras.layers.Dense(1, name="out")

    def call(self, x):
        for stage in self.stages:
            for layer in stage:
                x = layer(x)
        return self.out(x)


model = StagedEncoder((8, 4))
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
x = np.random.default_rng(0).normal(size=(64, 5)).astype("float32")
model.fit(x, np.abs(x[:, :1]), epochs=1, verbose=0)
before = model.stages[0][0].get_weights()[0].copy()
model.fit(x, np.abs(x[:, :1]), epochs=4, verbose=0)
print("tracked:", [v.path for v in model.trainable_variables])
assert np.array_equal(before, model.stages[0][0].get_weights()[0])
