# case: pixel_classifier_logits
# verdict: bug
# cause: not-a-probability | saturated-units | vanishing-gradient
# expect_line: 39 47
# expect_variables: -
# symptom_today: softmax in the last layer together with from_logits=True and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(12)
CLASSES = 4


def load_images(n=400, size=20):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, CLASSES, n)
    images = rng.integers(0, 90, size=(n, size, size, 1)).astype("float32")
    half = size // 2
    for img, label in zip(images, labels):
        r, c = divmod(int(label), 2)
        img[r * half:(r + 1) * half, c * half:(c + 1) * half] += 150
    return images, labels


def pipeline(images, labels):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    return ds.shuffle(400, seed=0).batch(40).prefetch(1)


class PixelNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.flat = keras.layers.Flatten()
        normal = keras.initializers.RandomNormal(stddev=1.0, seed=1)
        self.hidden = keras.layers.Dense(64, activation="relu", kernel_initializer=normal)
        self.out = keras.layers.Dense(CLASSES, activation="softmax", kernel_initializer=normal)

    def call(self, x):
        return self.out(self.hidden(self.flat(x)))


def classification_loss(y_true, y_pred):
    labels = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=y_pred)


model = PixelNet()
model.compile(optimizer=keras.optimizers.SGD(1e-3), loss=classification_loss, metrics=["accuracy"])
images, labels = load_images()
history = model.fit(pipeline(images, labels), epochs=5, verbose=0)
print("loss", history.history["loss"])
print("accuracy", history.history["accuracy"])
