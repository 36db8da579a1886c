# case: median_filter_between_the_convolutions
# verdict: bug; static: no
# cause: numpy-escape
# expect_line: 33
# expect_variables: analysis/*
# symptom_today: silent: no warning while tracing, every gradient is there; analysis only follows its L2 regulariser
# exit: 0
# fix: take the median with TensorFlow (tf.image.extract_patches or tf.signal.frame, then the middle of tf.sort)
# seen: terms of the loss: mean squared error (cut from analysis), regularisers of both networks (reach all)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(21)
l2 = keras.regularizers.L2(1e-3)


def conv(filters, width):
    return keras.layers.Conv1D(filters, width, padding="same", use_bias=False, kernel_regularizer=l2)


analysis = keras.Sequential([keras.Input((32, 1)), conv(6, 5), keras.layers.ELU(), conv(4, 3)], name="analysis")
synthesis = keras.Sequential([keras.Input((32, 4)), conv(8, 5), keras.layers.ELU(), conv(1, 3)], name="synthesis")
adam = keras.optimizers.Adam(5e-3)


def median3(signal):
    padded = np.pad(signal, ((0, 0), (1, 1), (0, 0)), mode="edge")
    return np.median(np.stack([padded[:, :-2], padded[:, 1:-1], padded[:, 2:]]), axis=0).astype(np.float32)


def despike(bands):
    smooth = tf.numpy_function(median3, [bands], tf.float32)
    return tf.ensure_shape(smooth, bands.shape)


@tf.function
def train(noisy, clean):
    with tf.GradientTape() as tape:
        bands = analysis(noisy, training=True)
        restored = synthesis(despike(bands), training=True)
        error = tf.reduce_mean(tf.square(restored - clean))
        loss = error + tf.add_n(analysis.losses + synthesis.losses)
    weights = analysis.trainable_variables + synthesis.trainable_variables
    adam.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return error


rng = np.random.default_rng(21)
time = np.linspace(0, 6, 32)[None, :, None] + rng.uniform(0, 6, size=(24, 1, 1))
clean = np.sin(time).astype("float32")
noisy = (clean + rng.normal(size=clean.shape) * 0.3).astype("float32")
size = np.linalg.norm(analysis.get_weights()[0])
errors = [float(train(tf.constant(noisy), tf.constant(clean))) for _ in range(10)]
print(errors[0], errors[-1])
assert np.linalg.norm(analysis.get_weights()[0]) < size
