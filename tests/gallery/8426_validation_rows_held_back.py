# case: validation_rows_held_back
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7426
import keras
import numpy as np

keras.utils.set_random_seed(26)
x = np.random.normal(size=(240, 5)).astype("float32")
y = (x[:, 0] > 0.2).astype("float32")
first = 60
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x[first:], y[first:], validation_data=(x[:60], y[:60]), epochs=2, verbose=0)
assert len(x[first:]) > 100
