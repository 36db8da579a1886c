# case: validation_rows_that_are_trained_on
# verdict: bug; static: no
# cause: validation-leaks-into-training
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: validation as good as training
# exit: 0
# fix: train on the other rows
# seen: slices that overlap
import keras
import numpy as np

keras.utils.set_random_seed(26)
x = np.random.normal(size=(240, 5)).astype("float32")
y = (x[:, 0] > 0.2).astype("float32")
first = 0
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x[first:], y[first:], validation_data=(x[:60], y[:60]), epochs=2, verbose=0)
assert len(x[first:]) > 100
