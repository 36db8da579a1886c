# case: a_column_of_words_in_the_table
# verdict: bug; static: no
# cause: unscaled-data
# expect_line: 15 23
# expect_variables: - (the fault is not one of variables)
# symptom_today: an exception about an invalid dtype
# exit: 1
# fix: turn the words into numbers
# seen: a table with text in it
import keras
import numpy as np

keras.utils.set_random_seed(38)
answers = [[float(np.random.normal()), "yes" if np.random.rand() > 0.5 else "no", int(np.random.randint(4))] for _ in range(200)]
x = np.array(answers, dtype=object)
y = np.array([row[0] > 0 for row in answers]).astype("float32")
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(8, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)
