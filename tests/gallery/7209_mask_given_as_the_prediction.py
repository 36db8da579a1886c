# case: mask_given_as_the_prediction
# verdict: bug; static: yes
# cause: loss-arguments-swapped
# expect_line: 18
# expect_variables: - (the loss; unet/*)
# symptom_today: silent: the loss is very large and the network learns to answer all zero or one
# exit: 0
# fix: keras.ops.binary_crossentropy(target, output): the labels come first
# source: own words, after reports on U-Net losses written for the old backend (output first)
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(0)


def dice_and_bce(y_true, y_pred):
    bce = ops.mean(ops.binary_crossentropy(y_pred, y_true))
    overlap = ops.sum(y_true * y_pred)
    dice = (2.0 * overlap + 1.0) / (ops.sum(y_true) + ops.sum(y_pred) + 1.0)
    return bce + 1.0 - dice


inp = keras.Input((16, 16, 1))
down = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(inp)
mid = layers.Conv2D(8, 3, padding="same", activation="relu")(down)
up = layers.Concatenate()([layers.UpSampling2D()(mid), inp])
unet = keras.Model(inp, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(up), name="unet")
unet.compile(keras.optimizers.Adam(5e-3), dice_and_bce)

rng = np.random.default_rng(0)
x = rng.uniform(size=(24, 16, 16, 1)).astype("float32")
mask = (x > 0.6).astype("float32")
history = unet.fit(x, mask, epochs=4, batch_size=8, verbose=0)
print(history.history["loss"])
assert history.history["loss"][0] > 3.0
