# case: every_time_step_scored_against_one_target
# verdict: bug; static: no
# cause: loss-shape-broadcast | labels-do-not-fit-units
# expect_line: 27 23
# expect_variables: - (the loss; everything is trained on it)
# symptom_today: silent: predictions (batch, 12, 1) against targets (batch, 1), every step is pulled to the last value
# exit: 0
# fix: return_sequences=False in the last recurrent layer
# source: keras-team/keras#7124, keras-team/keras#8934 (output of return_sequences against one target; Keras 3 no longer checks it)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(32)
t = np.linspace(0, 30, 200).astype("float32")
wave = np.sin(t) + 0.3 * np.sin(3.1 * t)
x = np.stack([wave[i:i + 12] for i in range(150)])[..., None]
y = wave[12:162, None]

model = keras.Sequential([
    layers.Input((12, 1)),
    layers.LSTM(10, return_sequences=True),
    layers.LSTM(6, return_sequences=True),
    layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, batch_size=25, epochs=2, verbose=0)
print("prediction", model.predict(x[:4], verbose=0).shape, "target", y[:4].shape)
assert model.output_shape == (None, 12, 1)
