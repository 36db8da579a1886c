# case: scores_taken_for_logits
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7406
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
loss = keras.losses.BinaryCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss)
model.fit(x, y, epochs=3, verbose=0)
assert model.predict(x, verbose=0).min() < 0.0
