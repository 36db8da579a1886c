# case: attention_softmax_over_the_last_axis
# verdict: bug; static: no
# cause: one-unit-softmax
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: every step of the sequence has the same weight
# exit: 0
# fix: axis=1
# seen: attention written with Dense(1, softmax)
import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.normal(size=(96, 7, 4)).astype("float32")
y = (x[:, 2, 0] > 0).astype("float32")
steps = keras.Input((7, 4))
h = keras.layers.Dense(8, activation="tanh")(steps)
scores = keras.layers.Dense(1)(h)
weights = keras.layers.Softmax(axis=-1)(scores)
mixed = keras.layers.Multiply()([h, weights])
pooled = keras.layers.GlobalAveragePooling1D()(mixed)
out = keras.layers.Dense(1, activation="sigmoid")(pooled)
model = keras.Model(steps, out)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
shares = keras.Model(steps, weights).predict(x, verbose=0)
assert shares.std() == 0.0
