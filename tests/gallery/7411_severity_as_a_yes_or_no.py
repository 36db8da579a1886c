# case: severity_as_a_yes_or_no
# verdict: bug; static: no
# cause: labels-do-not-fit-units
# expect_line: 21
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the loss goes below zero
# exit: 0
# fix: four units with softmax
# seen: class numbers with the binary loss
import keras
import numpy as np

keras.utils.set_random_seed(11)
x = np.random.normal(size=(120, 4)).astype("float32")
severity = np.clip(np.round(x[:, 0] + 1.5), 0, 3)
model = keras.Sequential([
    keras.Input((4,)),
    keras.layers.Dense(12, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy")
log = model.fit(x, severity, epochs=6, verbose=0)
assert log.history["loss"][-1] < 0.0
