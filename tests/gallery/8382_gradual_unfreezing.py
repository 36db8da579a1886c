# case: gradual_unfreezing
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: change trainable, compile again, go on, the advice in
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(20)


def make_model():
    inputs = keras.Input((12,))
    x = layers.Dense(24, activation="relu", name="block1")(inputs)
    x = layers.Dense(24, activation="relu", name="block2")(x)
    outputs = layers.Dense(4, activation="softmax", name="head")(x)
    return keras.Model(inputs, outputs)


def set_trainable(model, names):
    for layer in model.layers:
        layer.trainable = layer.name in names
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])


def dataset(n=320):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, n)
    x = rng.normal(size=(n, 12)) + 1.5 * np.eye(4, 12)[y]
    return x.astype("float32"), y


x, y = dataset()
model = make_model()
stages = [("head",), ("head", "block2"), ("head", "block2", "block1")]
for names in stages:
    set_trainable(model, names)
    before = {layer.name: layer.get_weights() for layer in model.layers if layer.weights}
    history = model.fit(x, y, epochs=4, batch_size=40, verbose=0)
    moved = {
        name: float(np.abs(weights[0] - model.get_layer(name).get_weights()[0]).max())
        for name, weights in before.items()
    }
    print(names, "loss", round(history.history["loss"][-1], 4), moved)
