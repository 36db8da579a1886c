# case: churn_with_one_softmax_unit
# verdict: bug; static: no
# cause: one-unit-softmax
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: accuracy stands at the share of one class
# exit: 0
# fix: sigmoid, or two units
# seen: the most common question of all
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(160, 6)).astype("float32")
y = (x[:, 0] - x[:, 3] > 0).astype("int32")
model = keras.Sequential()
model.add(keras.Input((6,)))
model.add(keras.layers.Dense(12, activation="relu"))
model.add(keras.layers.Dense(1, activation="softmax"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=4, verbose=0)
answers = model.predict(x, verbose=0)
assert (answers == 1.0).all()
