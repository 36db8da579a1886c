# case: diou_corner_badges
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: nothing wrong; IoU starts at 0 for every box and the distance term pulls the boxes over
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)
SIZE, N = 24, 256
ANCHOR = 0.14


def make_parcels(n):
    """Grey parcels with one bright badge near one of the four corners; boxes are x1 y1 x2 y2 in 0..1."""
    imgs = np.random.normal(0.1, 0.03, (n, SIZE, SIZE, 1)).astype("float32")
    boxes = np.zeros((n, 4), "float32")
    for i in range(n):
        w, h = np.random.randint(3, 6, size=2)
        x = np.random.randint(0, 4) if np.random.rand() < 0.5 else np.random.randint(SIZE - 8, SIZE - 5)
        y = np.random.randint(0, 4) if np.random.rand() < 0.5 else np.random.randint(SIZE - 8, SIZE - 5)
        imgs[i, y:y + h, x:x + w, 0] = 1.0
        boxes[i] = np.array([x, y, x + w, y + h]) / SIZE
    return imgs, boxes


class BoxDecoder(layers.Layer):
    def call(self, t):
        centre = keras.ops.sigmoid(t[:, :2])
        size = ANCHOR * keras.ops.exp(keras.ops.tanh(t[:, 2:]))
        return keras.ops.concatenate([centre - size / 2, centre + size / 2], axis=-1)


def overlap(y_true, y_pred):
    lo = tf.maximum(y_true[:, :2], y_pred[:, :2])
    hi = tf.minimum(y_true[:, 2:], y_pred[:, 2:])
    inter = tf.reduce_prod(tf.maximum(hi - lo, 0.0), axis=1)
    union = (tf.reduce_prod(y_true[:, 2:] - y_true[:, :2], axis=1)
             + tf.reduce_prod(y_pred[:, 2:] - y_pred[:, :2], axis=1) - inter)
    return inter, union


def iou(y_true, y_pred):            # only reported
    inter, union = overlap(y_true, y_pred)
    return inter / (union + 1e-7)


def diou_loss(y_true, y_pred):
    inter, union = overlap(y_true, y_pred)
    # squared distance of the centres over that of the far corners: it falls when the boxes come
    # nearer, also while they are apart and the overlap is clipped to zero
    apart = tf.reduce_sum(tf.square(y_true[:, :2] + y_true[:, 2:] - y_pred[:, :2] - y_pred[:, 2:]), axis=1) / 4
    lo = tf.minimum(y_true[:, :2], y_pred[:, :2])
    hi = tf.maximum(y_true[:, 2:], y_pred[:, 2:])
    across = tf.reduce_sum(tf.square(hi - lo), axis=1)
    return 1.0 - inter / (union + 1e-7) + apart / (across + 1e-7)


inp = keras.Input((SIZE, SIZE, 1))
x = layers.Conv2D(8, 3, strides=2, padding="same", activation="elu")(inp)
x = layers.Conv2D(16, 3, strides=2, padding="same", activation="elu")(x)
x = layers.Flatten()(x)
x = layers.Dense(32, activation="elu")(x)
x = layers.Dense(4, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01), name="box_head")(x)
model = keras.Model(inp, BoxDecoder()(x))

images, boxes = make_parcels(N)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=diou_loss, metrics=[iou])
hist = model.fit(images, boxes, batch_size=32, epochs=20, verbose=0)
for e in range(0, 20, 3):
    print(f"epoch {e}: diou loss {hist.history['loss'][e]:.4f}  iou {hist.history['iou'][e]:.3f}")
