# case: scores_taken_for_probabilities
# verdict: bug; static: no
# cause: not-a-probability
# expect_line: 19 21
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the loss jumps and accuracy stays low
# exit: 0
# fix: from_logits=True, or sigmoid
# seen: Dense(1) and loss='binary_crossentropy'
import keras
import numpy as np

keras.utils.set_random_seed(6)
x = np.random.normal(size=(160, 5)).astype("float32")
y = (x[:, 1] + x[:, 2] > 0).astype("float32")
model = keras.Sequential([
    keras.Input((5,)),
    keras.layers.Dense(8, activation="relu"),
    keras.layers.Dense(1),
])
loss = keras.losses.BinaryCrossentropy()
model.compile(optimizer="adam", loss=loss)
model.fit(x, y, epochs=3, verbose=0)
assert model.predict(x, verbose=0).min() < 0.0
