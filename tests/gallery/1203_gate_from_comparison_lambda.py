# case: gate_from_comparison_lambda
# verdict: bug; static: yes
# cause: non-differentiable-op
# expect_line: 19
# expect_variables: votes/kernel, votes/bias
# symptom_today: UserWarning: Gradients do not exist for variables ['votes/kernel', 'votes/bias'] when minimizing the loss; trains the rest
# exit: 0
# fix: use a sigmoid of the difference (or a straight-through estimator) as the mask
# source: keras-team/keras#7401 (Lambda layer that masks where pred1 > pred2: gradient None)
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(1)
UNITS = 6

features = keras.Input((10,), name="features")
votes = layers.Dense(2 * UNITS, name="votes")(features)
mask = layers.Lambda(lambda v: ops.cast(ops.greater(v[:, :UNITS], v[:, UNITS:]), "float32"), output_shape=(UNITS,))(votes)
body = layers.Dense(UNITS, activation="tanh", name="body")(features)
gated = layers.Multiply()([mask, body])
answer = layers.Dense(1, name="answer")(gated)
model = keras.Model(features, answer)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")

x = np.random.default_rng(0).normal(size=(64, 10)).astype("float32")
y = np.where(x[:, :1] > 0, x[:, 1:2], x[:, 2:3]).astype("float32")
before = model.get_layer("votes").get_weights()[0].copy()
history = model.fit(x, y, epochs=4, verbose=0)
print("loss", [round(v, 4) for v in history.history["loss"]])
print("votes moved:", float(np.abs(model.get_layer("votes").get_weights()[0] - before).max()))
