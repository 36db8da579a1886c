# case: blank_picture_scaled_by_its_maximum
# verdict: bug; static: no
# cause: nan-data|nan-division
# expect_line: 23 30
# expect_variables: - (the data; cnn/* is NaN after it)
# symptom_today: silent: the batch with the blank picture is NaN, and so is everything after it
# exit: 0
# fix: divide by tf.maximum(peak, 1e-6) (or drop blank pictures)
# source: own words, after reports of NaN loss caused by per-image scaling of empty images
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
pictures = rng.uniform(0, 255, size=(24, 8, 8, 1)).astype("float32")
pictures[17] = 0.0
labels = rng.integers(0, 2, 24)


def scale(image, label):
    peak = tf.reduce_max(image)
    return image / peak, label


data = tf.data.Dataset.from_tensor_slices((pictures, labels)).map(scale).batch(6)
cnn = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, activation="tanh"), keras.layers.GlobalAveragePooling2D(),
                        keras.layers.Dense(2)], name="cnn")
cnn.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = cnn.fit(data, epochs=2, verbose=0)
print(history.history["loss"])
assert np.isnan(cnn.get_weights()[0]).all()
