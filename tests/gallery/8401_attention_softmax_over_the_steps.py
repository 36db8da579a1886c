# case: attention_softmax_over_the_steps
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7401
import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.normal(size=(96, 7, 4)).astype("float32")
y = (x[:, 2, 0] > 0).astype("float32")
steps = keras.Input((7, 4))
h = keras.layers.Dense(8, activation="tanh")(steps)
scores = keras.layers.Dense(1)(h)
weights = keras.layers.Softmax(axis=1)(scores)
mixed = keras.layers.Multiply()([h, weights])
pooled = keras.layers.GlobalAveragePooling1D()(mixed)
out = keras.layers.Dense(1, activation="sigmoid")(pooled)
model = keras.Model(steps, out)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
shares = keras.Model(steps, weights).predict(x, verbose=0)
assert shares.std() > 0.0
