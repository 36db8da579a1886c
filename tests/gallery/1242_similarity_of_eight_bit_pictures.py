# case: similarity_of_eight_bit_pictures
# verdict: bug; static: yes
# cause: non-differentiable-op
# expect_line: 19
# expect_variables: sequential/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: compare float pictures, tf.image.ssim(y_true, y_pred, max_val=1.0)
# source: tensorflow/tensorflow#43258 and keras-team/tf-keras#52 (No gradients provided for any variable with an own loss)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)


def ssim_loss(y_true, y_pred):
    a = tf.image.convert_image_dtype(y_true, tf.uint8)
    b = tf.image.convert_image_dtype(y_pred, tf.uint8)
    return 1.0 - tf.image.ssim(a, b, max_val=255)


denoiser = keras.Sequential([
    keras.layers.Input((16, 16, 1)),
    keras.layers.Conv2D(4, 3, padding="same", activation="relu"),
    keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid"),
])
denoiser.compile(optimizer="adam", loss=ssim_loss)
clean = np.random.default_rng(0).random((8, 16, 16, 1)).astype("float32")
noisy = clean + 0.1 * np.random.default_rng(1).normal(size=clean.shape).astype("float32")
denoiser.fit(noisy, clean, epochs=1, batch_size=4, verbose=0)
