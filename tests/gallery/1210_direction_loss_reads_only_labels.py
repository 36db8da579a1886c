# case: direction_loss_reads_only_labels
# verdict: bug; static: yes
# cause: variable-not-in-loss | constant-target
# expect_line: 23
# expect_variables: *
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: compute the shown steps from y_pred
# source: rstudio/keras3#515 (directional loss fails when it only uses y_true)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(0)


def steps(series):
    return series[:, 1:] - series[:, :-1]


def direction_penalty(y_true, y_pred):
    wanted = ops.tanh(5.0 * steps(y_true))
    shown = ops.tanh(5.0 * steps(y_true))
    return ops.mean(ops.square(wanted - shown), axis=-1)


model = keras.Sequential([keras.layers.Input((12,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(6)])
model.compile(optimizer="adam", loss=direction_penalty)
t = np.linspace(0, 6, 18)[None, :] + np.random.default_rng(0).uniform(0, 6, size=(48, 1))
waves = np.sin(t).astype("float32")
model.fit(waves[:, :12], waves[:, 12:], epochs=2, batch_size=16, verbose=0)
