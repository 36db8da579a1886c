# case: iou_corner_badges
# verdict: bug
# cause: zero-gradient-op
# expect_line: 49 50 52
# expect_variables: -
# symptom_today: the loss is 1.0000 in every epoch, the weights do not move at all, no warning
# exit: 0
# fix: use GIoU/DIoU (or add an L1 term on the boxes), whose value depends on the distance of boxes that do not overlap
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)
SIZE, N = 24, 256
ANCHOR = 0.14          # the badges on our parcels are about that big


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
    """Centre and log-size relative to one anchor in the middle -> corners."""

    def call(self, t):
        centre = keras.ops.sigmoid(t[:, :2])
        size = ANCHOR * keras.ops.exp(keras.ops.tanh(t[:, 2:]))
        return keras.ops.concatenate([centre - size / 2, centre + size / 2], axis=-1)


def box_area(lo, hi):
    side = hi - lo
    return side[:, 0] * side[:, 1]


def iou_loss(y_true, y_pred):
    lo = tf.maximum(y_true[:, :2], y_pred[:, :2])
    hi = tf.minimum(y_true[:, 2:], y_pred[:, 2:])
    side = tf.maximum(hi - lo, 0.0)
    inter = side[:, 0] * side[:, 1]
    union = box_area(y_true[:, :2], y_true[:, 2:]) + box_area(y_pred[:, :2], y_pred[:, 2:]) - inter
    return 1.0 - inter / (union + 1e-7)


inp = keras.Input((SIZE, SIZE, 1))
x = layers.Conv2D(8, 3, strides=2, padding="same", activation="elu")(inp)
x = layers.Conv2D(16, 3, strides=2, padding="same", activation="elu")(x)
x = layers.Flatten()(x)
x = layers.Dense(32, activation="elu")(x)
x = layers.Dense(4, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01), name="box_head")(x)
model = keras.Model(inp, BoxDecoder()(x))

images, boxes = make_parcels(N)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=iou_loss)
before = model.get_layer("box_head").get_weights()[0].copy()
hist = model.fit(images, boxes, batch_size=32, epochs=8, verbose=0)
for e, l in enumerate(hist.history["loss"]):
    print(f"epoch {e}: iou loss {l:.4f}")
print("head moved by", np.abs(model.get_layer("box_head").get_weights()[0] - before).max())
print("first boxes:", model.predict(images[:2], verbose=0).round(2), "wanted:", boxes[:2].round(2))
