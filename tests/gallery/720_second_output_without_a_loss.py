# case: second_output_without_a_loss
# verdict: bug; static: no
# cause: no-loss | variable-not-in-loss
# expect_line: 19 24
# expect_variables: severity/*
# symptom_today: Keras warns that gradients do not exist for the severity head; its predictions stay random
# exit: 0
# fix: give both outputs a loss in the dictionary
# seen: two-output models compiled with a dictionary for one of them
import keras
import numpy as np

keras.utils.set_random_seed(1)
inputs = keras.Input((8,))
body = keras.layers.Dense(16, activation="relu")(inputs)
disease = keras.layers.Dense(1, activation="sigmoid", name="disease")(body)
severity = keras.layers.Dense(1, name="severity")(body)
model = keras.Model(inputs, {"disease": disease, "severity": severity})
model.compile(optimizer="adam", loss={"disease": "binary_crossentropy", "severity": None})
rng = np.random.default_rng(1)
x = rng.normal(size=(64, 8)).astype("float32")
y = {"disease": (x[:, :1] > 0).astype("float32"), "severity": x[:, 1:2]}
before = model.get_layer("severity").get_weights()[0]
model.fit(x, y, epochs=2, verbose=0)
assert np.array_equal(before, model.get_layer("severity").get_weights()[0])
