# case: a_column_of_words_made_numbers
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7438
import keras
import numpy as np

keras.utils.set_random_seed(38)
answers = [[float(np.random.normal()), 1.0 if np.random.rand() > 0.5 else 0.0, int(np.random.randint(4))] for _ in range(200)]
x = np.array(answers, dtype="float32")
y = np.array([row[0] > 0 for row in answers]).astype("float32")
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(8, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)
