# case: shuffled_then_split_and_zipped
# verdict: bug
# cause: pairs-lost; also: predictions-collapsed at line 45
# expect_line: 22 33 34 35
# expect_variables: -
# symptom_today: silent: the loss stays at the level of guessing; images and labels of a batch do not belong together
# exit: 0
# fix: process both in one map over the pairs (or zip first and shuffle afterwards)
# source: tensorflow/tensorflow#23643 (map on a shuffled data set gives a data set of another order); comment by jhultman in #12851
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
labels = rng.integers(0, 3, 300)
images = rng.normal(0.4, 0.1, (300, 6, 6, 1)).astype("float32")
for i, k in enumerate(labels):
    images[i, 2 * k:2 * k + 2] += 0.5

samples = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(300)


def prepare_image(image, label):
    return tf.clip_by_value(image, 0.0, 1.0) * 2.0 - 1.0


def prepare_label(image, label):
    return tf.one_hot(label, 3)


image_ds = samples.map(prepare_image)
label_ds = samples.map(prepare_label)
train_ds = tf.data.Dataset.zip((image_ds, label_ds)).batch(30).prefetch(2)

model = keras.Sequential([
    layers.Input((6, 6, 1)),
    layers.Conv2D(8, 3, activation="relu"),
    layers.Flatten(),
    layers.Dense(16, activation="relu"),
    layers.Dense(3, activation="softmax"),
])
model.compile(keras.optimizers.Adam(3e-3), "categorical_crossentropy", metrics=["accuracy"])
hist = model.fit(train_ds, epochs=6, verbose=0).history
print("loss", [round(v, 3) for v in hist["loss"]], "accuracy", round(hist["accuracy"][-1], 3))
assert hist["loss"][-1] > 1.0 and hist["accuracy"][-1] < 0.5
