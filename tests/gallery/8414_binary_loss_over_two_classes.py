# case: binary_loss_over_two_classes
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7414
import keras
import numpy as np

keras.utils.set_random_seed(14)
CLASSES = 2
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
