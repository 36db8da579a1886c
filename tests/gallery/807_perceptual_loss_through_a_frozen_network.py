# case: perceptual_loss_through_a_frozen_network
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: super-resolution with VGG features
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)
features = keras.Sequential([keras.layers.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.Conv2D(4, 3)], name="features")
features.trainable = False
upscale = keras.Sequential([keras.layers.Input((4, 4, 1)), keras.layers.UpSampling2D(), keras.layers.Conv2D(1, 3, padding="same")], name="upscale")


def perceptual(y_true, y_pred):
    pixel = tf.reduce_mean(tf.abs(y_true - y_pred), axis=(1, 2, 3))
    deep = tf.reduce_mean((features(y_true) - features(y_pred)) ** 2, axis=(1, 2, 3))
    return pixel + 0.5 * deep


upscale.compile(optimizer=keras.optimizers.Adam(0.01), loss=perceptual)
high = np.random.default_rng(0).uniform(size=(32, 8, 8, 1)).astype("float32")
low = high.reshape(32, 4, 2, 4, 2, 1).mean(axis=(2, 4))
kept = features.get_weights()[0].copy()
log = upscale.fit(low, high, epochs=4, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0] and np.array_equal(kept, features.get_weights()[0])
