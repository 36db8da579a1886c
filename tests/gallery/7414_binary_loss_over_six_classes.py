# case: binary_loss_over_six_classes
# verdict: bug; static: no
# cause: loss-does-not-fit-task
# expect_line: 22
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: accuracy looks high from the start
# exit: 0
# fix: categorical_crossentropy
# seen: binary_crossentropy with softmax
import keras
import numpy as np

keras.utils.set_random_seed(14)
CLASSES = 6
x = np.random.normal(size=(150, 8)).astype("float32")
y = keras.utils.to_categorical(x[:, :CLASSES].argmax(1), CLASSES)
model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(CLASSES, activation="softmax"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
assert (y.mean(0) < 0.6).all()
