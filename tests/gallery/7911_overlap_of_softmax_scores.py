# case: mean_iou_fed_with_softmax_scores
# verdict: bug
# cause: metric-not-of-this-output
# expect_line: 67 69
# expect_variables: -
# symptom_today: the pixel accuracy rises above 95 % but the mean IoU does not move: MeanIoU truncates the softmax scores (and the one-hot masks) to integers and takes those for class numbers
# exit: 0
# fix: use keras.metrics.OneHotMeanIoU(num_classes=3), or MeanIoU with sparse_y_true=False and sparse_y_pred=False, which take the argmax
# source: GitHub tensorflow/tensorflow 55565 and 39173, MeanIoU stays constant (at 0.33) during training of a segmentation network
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers

SIDE = 24
COVER = {"field": 0, "forest": 1, "water": 2}
TINT = np.array([[0.6, 0.6, 0.2], [0.1, 0.5, 0.1], [0.1, 0.2, 0.7]])


def tiles(n, seed):
    """Small satellite tiles: a field with a patch of forest and a river."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    label = np.zeros((n, SIDE, SIDE), "int32")
    for i in range(n):
        cy, cx, r = rng.uniform(5, 19), rng.uniform(5, 19), rng.uniform(4, 8)
        label[i][np.hypot(yy - cy, xx - cx) < r] = COVER["forest"]
        bend = rng.uniform(2, SIDE - 2) + 3 * np.sin(yy / 4 + rng.uniform(0, 6))
        label[i][np.abs(xx - bend) < 2] = COVER["water"]
    image = TINT[label] + 0.18 * rng.normal(size=(n, SIDE, SIDE, 3))
    return image.astype("float32"), keras.utils.to_categorical(label, len(COVER))


class EncoderDecoder(keras.Model):
    def __init__(self, classes, **kw):
        super().__init__(**kw)
        self.enc = layers.Conv2D(16, 3, padding="same", activation="relu", name="enc")
        self.pool = layers.MaxPooling2D()
        self.mid = layers.Conv2D(24, 3, padding="same", activation="relu", name="mid")
        self.up = layers.UpSampling2D(interpolation="bilinear")
        self.join = layers.Concatenate()
        self.dec = layers.Conv2D(16, 3, padding="same", activation="relu", name="dec")
        self.scores = layers.Conv2D(classes, 1, activation="softmax", name="scores")

    def call(self, x):
        fine = self.enc(x)
        coarse = self.mid(self.pool(fine))
        return self.scores(self.dec(self.join([fine, self.up(coarse)])))


def iou_by_hand(truth, guess):
    values = []
    for c in COVER.values():
        a, b = truth == c, guess == c
        values.append((a & b).sum() / (a | b).sum())
    return float(np.mean(values))


def main():
    keras.utils.set_random_seed(55)
    x, y = tiles(192, 0)
    xv, yv = tiles(48, 1)
    net = EncoderDecoder(len(COVER), name="cover_net")
    net.compile(
        optimizer=keras.optimizers.Adam(5e-3),
        loss=keras.losses.CategoricalCrossentropy(),
        metrics=["accuracy", keras.metrics.MeanIoU(num_classes=len(COVER), name="miou")],
    )
    log = net.fit(x, y, batch_size=16, epochs=5, validation_data=(xv, yv), verbose=0).history
    by_hand = iou_by_hand(yv.argmax(-1), net.predict(xv, verbose=0).argmax(-1))
    print("accuracy", np.round(log["val_accuracy"], 3), "reported miou", np.round(log["val_miou"], 3),
          "counted by hand", round(by_hand, 3))
    assert log["val_accuracy"][-1] > 0.95
    assert by_hand > 0.85
    assert max(log["val_miou"]) < 0.4 and np.ptp(log["val_miou"]) < 0.05


if __name__ == "__main__":
    main()
