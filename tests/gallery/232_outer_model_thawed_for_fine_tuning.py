# case: outer_model_thawed_for_fine_tuning
# verdict: bug; static: no
# cause: frozen-by-flag
# expect_line: 21 30 39 40
# expect_variables: backbone/*
# symptom_today: silent: setting True what was already True reaches no layer, the backbone stays frozen
# exit: 0
# fix: backbone.trainable = True (the part that was frozen), then compile again
# seen: transfer learning scripts that thaw the outer model for the second phase
import keras
import numpy as np


def pretrained():
    net = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(12, activation="relu")], name="backbone")
    net.layers[0].set_weights([np.eye(8, 12, dtype="float32"), np.zeros(12, "float32")])
    return net


def build(backbone, classes):
    backbone.trainable = False
    inputs = keras.Input((8,))
    x = backbone(inputs, training=False)
    outputs = keras.layers.Dense(classes, activation="softmax", name="head")(x)
    return keras.Model(inputs, outputs)


def phase(model, rate, x, y):
    model.compile(keras.optimizers.Adam(rate), "sparse_categorical_crossentropy")
    return model.fit(x, y, epochs=1, verbose=0).history["loss"]


rng = np.random.default_rng(0)
x, y = rng.normal(size=(40, 8)).astype("float32"), rng.integers(0, 3, 40)
backbone = pretrained()
model = build(backbone, 3)
before = backbone.get_weights()[0]
print("head", phase(model, 1e-2, x, y))
model.trainable = True
print("all", phase(model, 1e-3, x, y))
assert np.array_equal(before, backbone.get_weights()[0])
