# case: class_numbers_for_one_hot_rows
# verdict: bug; static: no
# cause: labels-do-not-fit-units
# expect_line: 17 18
# expect_variables: - (the fault is not one of variables)
# symptom_today: an exception about ranks
# exit: 1
# fix: sparse_categorical_crossentropy
# seen: labels as they come from a csv file
import keras
import numpy as np

keras.utils.set_random_seed(9)
x = np.random.normal(size=(90, 4)).astype("float32")
y = x[:, :3].argmax(1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="categorical_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
