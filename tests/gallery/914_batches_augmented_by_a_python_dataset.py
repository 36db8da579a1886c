# case: batches_augmented_by_a_python_dataset
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: NumPy augmentation in a PyDataset, outside of all gradients
import keras
import numpy as np


class Shifted(keras.utils.PyDataset):
    def __init__(self, images, labels, batch, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels, self.batch = images, labels, batch
        self.order = np.arange(len(images))
        self.rng = np.random.default_rng(3)

    def __len__(self):
        return len(self.images) // self.batch

    def __getitem__(self, i):
        rows = self.order[i * self.batch : (i + 1) * self.batch]
        moved = np.stack([np.roll(self.images[r], self.rng.integers(-1, 2, 2), (0, 1)) for r in rows])
        mix = self.rng.beta(0.4, 0.4, size=(len(rows), 1)).astype("float32")
        other = self.rng.permutation(len(rows))
        images = mix[..., None, None] * moved + (1 - mix[..., None, None]) * moved[other]
        labels = mix * self.labels[rows] + (1 - mix) * self.labels[rows][other]
        return images.astype("float32"), labels.astype("float32")

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
kind = rng.integers(0, 2, 64)
images = 0.1 * rng.random((64, 8, 8, 1), dtype="float32")
images[kind == 1, 2:6, 2:6] += 1.0
model = keras.Sequential([keras.layers.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, activation="relu"),
                          keras.layers.MaxPooling2D(), keras.layers.Flatten(),
                          keras.layers.Dense(2, activation="softmax")])
model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy")
losses = model.fit(Shifted(images, keras.utils.to_categorical(kind, 2), 16), epochs=4, verbose=0).history["loss"]
assert losses[-1] < losses[0]
