# case: finetune_second_stage
# verdict: bug
# cause: frozen-by-flag | optimizer-variable-mismatch
# expect_line: 51 53
# expect_variables: -
# symptom_today: changing trainable after compile has no effect on a running train function
# exit: 0
# fix: -
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(2)


def make_backbone():
    return keras.Sequential([
        keras.Input((16,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(16, activation="relu"),
    ], name="backbone")


def make_classifier(backbone):
    inputs = keras.Input((16,))
    x = backbone(inputs)
    outputs = layers.Dense(3, activation="softmax", name="head")(x)
    return keras.Model(inputs, outputs)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 16)) + np.eye(3, 16)[y] * 2.0
    return x.astype("float32"), y


backbone = make_backbone()
pretrain = keras.Sequential([keras.Input((16,)), backbone, layers.Dense(16)])
pretrain.compile(optimizer="adam", loss="mse")
x0, _ = dataset(256, 1)
pretrain.fit(x0, x0, epochs=3, verbose=0)

model = make_classifier(backbone)
backbone.trainable = False
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy")
x, y = dataset(300, 2)
model.fit(x, y, epochs=3, batch_size=50, verbose=0)

snapshot = [w.copy() for w in backbone.get_weights()]
backbone.trainable = True
model.optimizer.learning_rate = 1e-4
history = model.fit(x, y, epochs=5, batch_size=50, verbose=0)
change = max(float(np.abs(a - b).max()) for a, b in zip(snapshot, backbone.get_weights()))
print("loss", history.history["loss"][-1], "backbone changed by", change)
