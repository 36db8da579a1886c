# case: averages_that_have_settled
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7424
import keras
import numpy as np

keras.utils.set_random_seed(24)
x = np.random.normal(4.0, 0.2, size=(128, 6)).astype("float32")
y = (x[:, 0] > 4.0).astype("float32")
model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.BatchNormalization(momentum=0.6),
    keras.layers.Dense(8, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=4, batch_size=64, verbose=0)
model.evaluate(x, y, verbose=0)
assert abs(float(model.layers[0].moving_mean[0]) - 4.0) < 2.0
