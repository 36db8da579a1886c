# case: relu_further_in_front
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7408
import keras
import numpy as np

keras.utils.set_random_seed(8)
x = np.random.normal(size=(150, 6)).astype("float32")
y = x[:, :4].argmax(1)
model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(4),
    keras.layers.Activation("softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
assert model.predict(x, verbose=0).min() > 0.0
