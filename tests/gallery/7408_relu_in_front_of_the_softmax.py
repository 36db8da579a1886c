# case: relu_in_front_of_the_softmax
# verdict: bug; static: no
# cause: not-a-probability
# expect_line: 19 20
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: some classes are never predicted
# exit: 0
# fix: no activation in front of the softmax
# seen: an Activation layer added after a layer that has one
import keras
import numpy as np

keras.utils.set_random_seed(8)
x = np.random.normal(size=(150, 6)).astype("float32")
y = x[:, :4].argmax(1)
model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(4, activation="relu"),
    keras.layers.Activation("softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
assert model.predict(x, verbose=0).min() > 0.0
