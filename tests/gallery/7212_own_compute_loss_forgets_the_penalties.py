# case: own_compute_loss_forgets_the_penalties
# verdict: bug; static: no
# cause: missing-loss-term
# expect_line: 20 24
# expect_variables: hidden/kernel
# symptom_today: silent: the L2 penalty is in model.losses but not in the loss that is trained
# exit: 0
# fix: return loss + sum(self.losses)
# source: keras-team/keras#19430, tensorflow/tensorflow#55216 (compute_loss has to add self.losses)
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(31)


class LogCoshModel(keras.Model):
    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        error = y_pred - y
        return ops.mean(error + ops.softplus(-2.0 * error) - np.log(2.0))


inputs = keras.Input((6,))
h = layers.Dense(24, activation="relu", kernel_regularizer=keras.regularizers.L2(0.5), name="hidden")(inputs)
model = LogCoshModel(inputs, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(0.01))

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 6)).astype("float32")
y = (x[:, :1] + 0.1 * rng.normal(size=(64, 1))).astype("float32")
before = float(model.losses[0])
history = model.fit(x, y, batch_size=16, epochs=8, verbose=0)
print("reported loss", history.history["loss"][-1], "penalty before/after", before, float(model.losses[0]))
assert float(model.losses[0]) > 0.8 * before
