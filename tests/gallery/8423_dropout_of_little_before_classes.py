# case: dropout_of_little_before_classes
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7423
import keras
import numpy as np

keras.utils.set_random_seed(23)
x = np.random.normal(size=(200, 4)).astype("float32")
y = (x[:, :1] + x[:, 2:3] > 0).astype("float32")
model = keras.Sequential([
    keras.Input((4,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dropout(0.5),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
log = model.fit(x, y, epochs=8, verbose=0)
assert log.history["loss"][-1] > 0.05
