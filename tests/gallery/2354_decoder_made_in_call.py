# case: unet_decoder_in_call
# verdict: bug
# cause: variable-recreated
# expect_line: 26 28 41 42
# expect_variables: up/*, refine/*, mask/*
# symptom_today: the loss jumps about and does not go down; the model lists the weights of the encoder only
# exit: 0
# fix: create the layers of the decoder once in __init__ (self.up = ..., self.refine = ..., self.mask = ...) and only use them in call
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


def decoder_block(x, skip, filters):
    x = layers.Conv2DTranspose(filters, 2, strides=2, activation="elu", name="up")(x)
    x = tf.concat([x, skip], axis=-1)
    return layers.Conv2D(filters, 3, padding="same", activation="elu", name="refine")(x)


class TinyUNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc1 = encoder_block(8)
        self.pool = layers.MaxPooling2D(2)
        self.bottom = encoder_block(16)

    def call(self, x):
        skip = self.enc1(x)
        deep = self.bottom(self.pool(skip))
        y = decoder_block(deep, skip, 8)
        return layers.Conv2D(1, 1, name="mask")(y)


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
