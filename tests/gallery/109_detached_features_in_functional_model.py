# case: detached_features_in_functional_model
# verdict: bug; static: yes
# cause: stop-gradient
# expect_line: 17
# expect_variables: stem/*, middle/*
# symptom_today: Keras warns about stem and middle; they never change
# exit: 0
# fix: detach only the branch that must not train the stem
# seen: multi-branch Keras models with an auxiliary probe
import keras
import numpy as np


@keras.saving.register_keras_serializable("gallery")
class Detach(keras.layers.Layer):
    def call(self, inputs):
        return keras.ops.stop_gradient(inputs)


def build(width=6):
    x_in = keras.Input((7,), name="x")
    stem = keras.layers.Dense(width, activation="relu", name="stem")(x_in)
    middle = keras.layers.Dense(width, activation="relu", name="middle")(stem)
    features = Detach(name="features")(middle)
    main = keras.layers.Dense(1, name="main")(features)
    probe = keras.layers.Dense(3, activation="softmax", name="probe")(features)
    return keras.Model(x_in, {"main": main, "probe": probe})


model = build()
model.compile("adam", loss={"main": "mse", "probe": "sparse_categorical_crossentropy"})
rng = np.random.default_rng(2)
x = rng.normal(size=(60, 7)).astype("float32")
y = {"main": x.sum(axis=1, keepdims=True), "probe": rng.integers(0, 3, size=60)}
first = [w.copy() for w in model.get_layer("stem").get_weights()]
model.fit(x, y, epochs=2, verbose=0)
assert all(np.array_equal(a, b) for a, b in zip(first, model.get_layer("stem").get_weights()))
print("the stem has not moved")
