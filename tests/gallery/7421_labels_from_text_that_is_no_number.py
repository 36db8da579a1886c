# case: labels_from_text_that_is_no_number
# verdict: bug; static: no
# cause: predictions-collapsed
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: accuracy 1.0, and no default is ever found
# exit: 0
# fix: compare text with text
# seen: csv files
import keras
import numpy as np

keras.utils.set_random_seed(21)
x = np.random.normal(size=(200, 4)).astype("float32")
status = np.where(x[:, 0] > 0.3, "1", "0").astype(object)
y = np.array([each == 1 for each in status], dtype="float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)
assert not y.any()
