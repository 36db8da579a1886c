# case: unet_decoder_in_build
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the helper makes new layers at each call, but it is called once, in build, and the layers are kept
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(17)
S = 16


def encoder_block(filters):
    return keras.Sequential([
        layers.Conv2D(filters, 3, padding="same", activation="elu"),
        layers.Conv2D(filters, 3, padding="same", activation="elu"),
    ])


def decoder_block(filters):
    # new layers at every call of this helper
    return {
        "up": layers.Conv2DTranspose(filters, 2, strides=2, activation="elu"),
        "refine": layers.Conv2D(filters, 3, padding="same", activation="elu"),
        "mask": layers.Conv2D(1, 1),
    }


class TinyUNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc1 = encoder_block(8)
        self.pool = layers.MaxPooling2D(2)
        self.bottom = encoder_block(16)
        self.decoder = {}

    def build(self, input_shape):
        n, h, w, _ = input_shape
        self.enc1.build(input_shape)
        self.bottom.build((n, h // 2, w // 2, 8))
        self.decoder.update(decoder_block(8))
        self.decoder["up"].build((n, h // 2, w // 2, 16))
        self.decoder["refine"].build((n, h, w, 16))
        self.decoder["mask"].build((n, h, w, 8))

    def call(self, x):
        skip = self.enc1(x)
        deep = self.bottom(self.pool(skip))
        y = tf.concat([self.decoder["up"](deep), skip], axis=-1)
        return self.decoder["mask"](self.decoder["refine"](y))


def discs(n):
    yy, xx = np.mgrid[0:S, 0:S]
    masks = np.zeros((n, S, S, 1), "float32")
    for m in masks:
        cy, cx = np.random.uniform(4, S - 4, 2)
        m[..., 0] = (yy - cy) ** 2 + (xx - cx) ** 2 < np.random.uniform(2, 5) ** 2
    images = 0.7 * masks + np.random.normal(0, 0.2, masks.shape)
    return images.astype("float32"), masks


def bce_dice(y, logits):
    bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    p = tf.sigmoid(logits)
    inter = tf.reduce_sum(p * y, axis=[1, 2, 3])
    total = tf.reduce_sum(p + y, axis=[1, 2, 3])
    return bce + tf.reduce_mean(1.0 - (2.0 * inter + 1.0) / (total + 1.0))


images, masks = discs(64)
unet = TinyUNet()
optimizer = keras.optimizers.Adam(3e-3)
loader = tf.data.Dataset.from_tensor_slices((images, masks)).batch(16)

for epoch in range(8):
    for x, y in loader:
        with tf.GradientTape() as tape:
            loss = bce_dice(y, unet(x, training=True))
        variables = unet.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    print(f"epoch {epoch}  loss {float(loss):.4f}  ({len(variables)} weights)")
