# case: ratings_from_zero_to_four
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7410
import keras
import numpy as np

keras.utils.set_random_seed(10)
x = np.random.normal(size=(100, 4)).astype("float32")
stars = np.random.randint(0, 5, 100)
model = keras.Sequential([
    keras.Input((4,)),
    keras.layers.Dense(5, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, stars, epochs=2, verbose=0)
