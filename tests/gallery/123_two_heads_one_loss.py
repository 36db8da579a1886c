# case: two_heads_one_loss
# verdict: bug; static: no
# cause: variable-not-in-loss | no-loss
# expect_line: 18 20 22 28
# expect_variables: uncertainty/*
# symptom_today: Keras warns about uncertainty/*; that output stays random
# exit: 0
# fix: give the second output a loss of its own
# seen: multi-output models compiled with a partial loss dictionary
import keras
import numpy as np

keras.utils.set_random_seed(4)
image = keras.Input((8, 8, 1), name="image")
h = keras.layers.Conv2D(4, 3, activation="relu")(image)
h = keras.layers.GlobalAveragePooling2D()(h)
depth = keras.layers.Dense(1, name="depth")(h)
uncertainty = keras.layers.Dense(1, activation="softplus", name="uncertainty")(h)
model = keras.Model(image, {"depth": depth, "uncertainty": uncertainty})
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss={"depth": "mae", "uncertainty": None},
)
rng = np.random.default_rng(7)
x = rng.normal(size=(40, 8, 8, 1)).astype("float32")
y = {"depth": x.mean(axis=(1, 2)), "uncertainty": np.zeros((40, 1), "float32")}
initial = model.get_layer("uncertainty").get_weights()[0].copy()
model.fit(x, y, epochs=2, verbose=0)
assert np.array_equal(initial, model.get_layer("uncertainty").get_weights()[0])
print("depth trained, uncertainty did not")
