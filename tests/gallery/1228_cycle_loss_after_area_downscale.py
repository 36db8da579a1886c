# case: cycle_loss_after_area_downscale
# verdict: bug; static: yes
# cause: no-registered-gradient
# expect_line: 22 28
# expect_variables: upscaler/*
# symptom_today: raises LookupError: gradient registry has no entry for: ResizeArea
# exit: 1 (LookupError)
# fix: down-scale with average pooling or method='bilinear', antialias=True: ResizeArea has no gradient
# source: tensorflow/tensorflow#22208 and #7641 (LookupError for image resize ops inside a network)
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)
upscaler = keras.Sequential(
    [keras.Input((8, 8, 3)), keras.layers.Conv2D(8, 3, padding="same", activation="relu"), keras.layers.UpSampling2D(2),
     keras.layers.Conv2D(3, 3, padding="same")], name="upscaler")
opt = keras.optimizers.Adam(1e-3)
small = tf.random.uniform((4, 8, 8, 3), seed=1)


def downscale(image):
    return tf.image.resize(image, (8, 8), method=tf.image.ResizeMethod.AREA)


for epoch in range(2):
    with tf.GradientTape() as tape:
        large = upscaler(small, training=True)
        again = downscale(large)
        cycle = tf.reduce_mean(tf.abs(again - small))
    grads = tape.gradient(cycle, upscaler.trainable_variables)
    opt.apply_gradients(zip(grads, upscaler.trainable_variables))
    print(epoch, float(cycle))
