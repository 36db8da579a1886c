# case: msssim_from_the_negative
# verdict: bug; static: no
# cause: nan-pow
# expect_line: 21
# expect_variables: canvas (NaN gradient at the first step)
# symptom_today: silent: loss 1.0, gradient nan, then everything nan
# exit: 0
# fix: start from an image with some structural agreement, or mix in an L1 term and use plain tf.image.ssim until MS-SSIM is above zero
# source: tensorflow/tensorflow#50400 (gradient of tf.image.ssim_multiscale is nan/inf when the score is 0, for instance against the negated image), tensorflow/tensorflow#57493
import numpy as np
import tensorflow as tf
import keras

tf.random.set_seed(5)
photo = tf.random.uniform((2, 32, 32, 1), seed=5)
canvas = tf.Variable(1.0 - photo, name="canvas")      # paint over the photographic negative
opt = keras.optimizers.Adam(0.01)


def structural_loss(image):
    score = tf.image.ssim_multiscale(image, photo, max_val=1.0, filter_size=5, power_factors=(0.3, 0.3, 0.4))
    return 1.0 - tf.reduce_mean(score)


def paint(steps):
    values = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = structural_loss(canvas)
        grad = tape.gradient(loss, canvas)
        opt.apply_gradients([(grad, canvas)])
        canvas.assign(tf.clip_by_value(canvas, 0.0, 1.0))
        values.append(float(loss))
    return values


print("losses", paint(3), "canvas finite", bool(np.isfinite(canvas.numpy()).all()))
assert np.isnan(canvas.numpy()).any()
