# case: contrast_augmentation_after_generator
# verdict: bug; static: yes
# cause: no-registered-gradient
# expect_line: 27
# expect_variables: painter/*
# symptom_today: raises LookupError: gradient registry has no entry for: AdjustContrastv2
# exit: 1 (LookupError)
# fix: write the contrast change with plain arithmetic: (x - mean) * factor + mean
# seen: differentiable augmentation for small-data GANs
import keras
import tensorflow as tf

painter = keras.Sequential(
    [
        keras.layers.Input((8,)),
        keras.layers.Dense(4 * 4 * 3, activation="tanh"),
        keras.layers.Reshape((4, 4, 3)),
    ],
    name="painter",
)
critic = keras.Sequential([keras.layers.Input((4, 4, 3)), keras.layers.Flatten(), keras.layers.Dense(1)], name="critic")
painter_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)


def augment(images):
    images = images + tf.random.normal(tf.shape(images), stddev=0.01)
    return tf.image.adjust_contrast(images, 0.8)


noise = tf.random.normal((10, 8), seed=8)
with tf.GradientTape() as painter_tape:
    verdict = critic(augment(painter(noise, training=True)))
    painter_loss = -tf.reduce_mean(verdict)
painter_grads = painter_tape.gradient(painter_loss, painter.trainable_variables)
painter_opt.apply_gradients(zip(painter_grads, painter.trainable_variables))
