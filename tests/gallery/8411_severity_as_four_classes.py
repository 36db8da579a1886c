# case: severity_as_four_classes
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7411
import keras
import numpy as np

keras.utils.set_random_seed(11)
x = np.random.normal(size=(120, 4)).astype("float32")
severity = np.clip(np.round(x[:, 0] + 1.5), 0, 3)
model = keras.Sequential([
    keras.Input((4,)),
    keras.layers.Dense(12, activation="relu"),
    keras.layers.Dense(4, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="sparse_categorical_crossentropy")
log = model.fit(x, severity, epochs=6, verbose=0)
assert log.history["loss"][-1] > 0.0
