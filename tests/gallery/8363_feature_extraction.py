# case: feature_extraction
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: freezing a base with batch normalisation for transfer learning and
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(3)


def make_base():
    return keras.Sequential([
        keras.Input((12, 12, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.Conv2D(8, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.GlobalAveragePooling2D(),
    ], name="base")


def shapes(n, seed):
    rng = np.random.default_rng(seed)
    x = 0.2 * rng.normal(size=(n, 12, 12, 1))
    y = rng.integers(0, 2, n)
    for img, label in zip(x, y):
        k = int(rng.integers(1, 10))
        if label:
            img[k, :, 0] += 1.0
        else:
            img[:, k, 0] += 1.0
    return x.astype("float32"), y


base = make_base()
x, y = shapes(200, 0)
source = keras.Sequential([keras.Input((12, 12, 1)), base, layers.Dense(1, activation="sigmoid")])
source.compile(optimizer="adam", loss="binary_crossentropy")
source.fit(x, y, epochs=2, verbose=0)

base.trainable = False
x2, y2 = shapes(160, 1)
features = base.predict(x2, verbose=0)
head = keras.Sequential([keras.Input((features.shape[1],)), layers.Dense(1, activation="sigmoid")])
head.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy")
print("head", head.fit(features, y2, epochs=5, verbose=0).history["loss"])

inputs = keras.Input((12, 12, 1))
full = keras.Model(inputs, head(base(inputs, training=False)))
full.compile(optimizer=keras.optimizers.Adam(1e-2), loss="binary_crossentropy")
print("full", full.fit(x2, y2, epochs=3, verbose=0).history["loss"])
