# case: sigmoid_for_five_kinds_of_glass
# verdict: bug; static: no
# cause: sigmoid-for-exclusive-classes
# expect_line: 20
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the probabilities of the classes do not sum to one
# exit: 0
# fix: softmax
# seen: the last layer of a binary classifier, kept
import keras
import numpy as np

keras.utils.set_random_seed(4)
middle = np.random.normal(size=(5, 6))
kind = np.random.randint(0, 5, 200)
x = middle[kind] + 0.3 * np.random.normal(size=(200, 6))
model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(5, activation="sigmoid"),
])
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(x, keras.utils.to_categorical(kind, 5), epochs=3, verbose=0)
total = model.predict(x, verbose=0).sum(1)
assert np.abs(total - 1.0).max() > 0.01
