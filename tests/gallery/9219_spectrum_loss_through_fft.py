# case: spectrum_loss_through_fft
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (complex numbers inside a real loss)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
synth = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(64)])
opt = keras.optimizers.Adam(5e-3)


def log_magnitude(signal):
    spectrum = tf.signal.rfft(signal)
    power = tf.square(tf.math.real(spectrum)) + tf.square(tf.math.imag(spectrum))
    return tf.math.log(power + 1e-3)


def phase_slope(signal):
    spectrum = tf.signal.rfft(signal)
    return tf.reduce_mean(tf.cos(tf.math.angle(spectrum + tf.complex(1e-3, 0.0))))


rng = np.random.default_rng(0)
controls = tf.constant(rng.uniform(0.5, 1.5, size=(16, 3)).astype("float32"))
t = np.arange(64, dtype="float32") / 64
target = tf.constant(np.sin(2 * np.pi * 5 * t[None] * controls.numpy()[:, :1]).astype("float32"))
losses = []
for step in range(30):
    with tf.GradientTape() as tape:
        out = synth(controls)
        loss = tf.reduce_mean(tf.abs(log_magnitude(out) - log_magnitude(target))) - 0.01 * phase_slope(out)
    grads = tape.gradient(loss, synth.trainable_variables)
    opt.apply_gradients(zip(grads, synth.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
print("ok", losses[0], losses[-1])
