# case: churn_with_two_softmax_units
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7400
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(160, 6)).astype("float32")
y = (x[:, 0] - x[:, 3] > 0).astype("int32")
model = keras.Sequential()
model.add(keras.Input((6,)))
model.add(keras.layers.Dense(12, activation="relu"))
model.add(keras.layers.Dense(2, activation="softmax"))
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=4, verbose=0)
answers = model.predict(x, verbose=0)
assert np.allclose(answers.sum(1), 1.0) and answers.std() > 0
