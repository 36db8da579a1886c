# case: dropout_of_most_before_a_number
# verdict: bug; static: no
# cause: dropout-before-output
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the training loss stays far above that of evaluation
# exit: 0
# fix: a smaller rate, further from the output
# seen: regularisation by habit
import keras
import numpy as np

keras.utils.set_random_seed(23)
x = np.random.normal(size=(200, 4)).astype("float32")
y = np.tanh(x[:, :1] + x[:, 2:3])
model = keras.Sequential([
    keras.Input((4,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dropout(0.75),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
log = model.fit(x, y, epochs=8, verbose=0)
assert log.history["loss"][-1] > 0.05
