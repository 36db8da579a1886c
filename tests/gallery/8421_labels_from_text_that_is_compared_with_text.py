# case: labels_from_text_that_is_compared_with_text
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7421
import keras
import numpy as np

keras.utils.set_random_seed(21)
x = np.random.normal(size=(200, 4)).astype("float32")
status = np.where(x[:, 0] > 0.3, "1", "0").astype(object)
y = np.array([each == "1" for each in status], dtype="float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)
assert y.any()
