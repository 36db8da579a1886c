# case: ratings_from_one_to_five
# verdict: bug; static: no
# cause: labels-do-not-fit-units
# expect_line: 18 21
# expect_variables: - (the fault is not one of variables)
# symptom_today: an exception about a label value, deep inside
# exit: 1
# fix: subtract 1 from the labels
# seen: ratings as people give them
import keras
import numpy as np

keras.utils.set_random_seed(10)
x = np.random.normal(size=(100, 4)).astype("float32")
stars = np.random.randint(1, 6, 100)
model = keras.Sequential([
    keras.Input((4,)),
    keras.layers.Dense(5, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, stars, epochs=2, verbose=0)
