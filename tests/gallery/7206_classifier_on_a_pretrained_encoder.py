# case: classifier_on_a_pretrained_encoder
# verdict: bug; static: yes
# cause: no-loss
# expect_line: 32 35
# expect_variables: -
# symptom_today: raises ValueError: No loss to compute. Provide a `loss` argument in `compile()`.
# exit: 1 (ValueError)
# fix: classifier.compile(..., loss="sparse_categorical_crossentropy")
# source: keras-team/keras#15420 (compile without a loss is accepted, fit fails later), kipoi/kipoiseq#114 (No loss found)
import numpy as np
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
images = rng.uniform(size=(32, 8, 8, 1)).astype("float32")
labels = rng.integers(0, 3, size=(32, 1))


def pretrain():
    picture = keras.Input((8, 8, 1))
    code = keras.layers.Dense(10, activation="relu", name="code")(keras.layers.Flatten()(picture))
    autoencoder = keras.Model(picture, keras.layers.Reshape((8, 8, 1))(keras.layers.Dense(64)(code)))
    autoencoder.compile(optimizer="adam", loss="mse")
    autoencoder.fit(images, images, batch_size=16, epochs=1, verbose=0)
    return keras.Model(picture, code, name="encoder")


class Probe:
    def __init__(self, encoder, classes):
        encoder.trainable = False
        self.model = keras.Sequential([encoder, keras.layers.Dense(classes, activation="softmax")])
        self.model.compile(optimizer=keras.optimizers.Adam(1e-3), metrics=["accuracy"])

    def run(self, x, y):
        return self.model.fit(x, y, batch_size=16, epochs=2, verbose=0)


print(Probe(pretrain(), classes=3).run(images, labels).history)
