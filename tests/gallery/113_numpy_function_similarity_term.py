# case: numpy_function_similarity_term
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 28
# expect_variables: enhancer/*
# symptom_today: raises ValueError: No gradients provided for any variable (while tracing)
# exit: 1 (ValueError)
# fix: use tf.image.ssim or write the term in TensorFlow
# seen: image enhancement with a scikit-image metric as the loss
import keras
import numpy as np
import tensorflow as tf

enhancer = keras.Sequential([keras.layers.Input((6, 6, 1)), keras.layers.Conv2D(1, 3, padding="same")], name="enhancer")
adam = keras.optimizers.Adam()


def structural(a, b):
    va, vb = a.var(axis=(1, 2, 3)), b.var(axis=(1, 2, 3))
    cov = ((a - a.mean()) * (b - b.mean())).mean(axis=(1, 2, 3))
    return np.float32((2 * cov + 1e-3).mean() / (va + vb + 1e-3).mean())


@tf.function
def improve(low, high):
    with tf.GradientTape() as tape:
        better = enhancer(low, training=True)
        similarity = tf.numpy_function(
            structural,
            [better, high],
            tf.float32,
        )
        loss = 1.0 - similarity
    adam.apply_gradients(zip(tape.gradient(loss, enhancer.trainable_variables), enhancer.trainable_variables))
    return loss


images = tf.random.uniform((8, 6, 6, 1), seed=0)
improve(images * 0.5, images)
