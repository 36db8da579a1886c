# case: share_right_of_masked_readings
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the share of hits among the masked readings is NaN where a batch has none masked, and is only shown
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)

# Daily curves of a meter: a few readings are masked at random, and the network fills them in.
rng = np.random.default_rng(8)
hours = np.linspace(0, 2 * np.pi, 12)
curves = np.sin(hours + rng.uniform(0, 2 * np.pi, (512, 1))) * rng.uniform(0.5, 1.5, (512, 1))
curves = curves.astype("float32")

network = keras.Sequential([layers.Input((24,)), layers.Dense(64, activation="relu"), layers.Dense(12)])
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def step(x):
    masked = tf.random.uniform(tf.shape(x)) < 0.05
    hidden = tf.where(masked, 0.0, x)
    with tf.GradientTape() as tape:
        filled = network(tf.concat([hidden, tf.cast(masked, tf.float32)], axis=1), training=True)
        error = tf.where(masked, filled - x, 0.0)
        count = tf.reduce_sum(tf.cast(masked, tf.float32))
        loss = tf.math.divide_no_nan(tf.reduce_sum(error**2), count) + 0.1 * tf.reduce_mean((filled - x) ** 2)
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables))
    near = tf.boolean_mask(tf.cast(tf.abs(filled - x) < 0.2, tf.float32), masked)
    return loss, tf.reduce_mean(near)


losses, shares = [], []
for number in range(400):
    loss, share = step(tf.constant(curves[rng.choice(512, 8)]))
    losses.append(float(loss))
    shares.append(float(share))
    if number % 50 == 0:
        print(f"step {number:3d}  loss {losses[-1]:.4f}  near {np.nanmean(shares[-50:]):.2f}")

assert np.isfinite(losses).all() and np.mean(losses[-40:]) < 0.5 * np.mean(losses[:40])
assert 0 < np.isnan(shares).sum() < 40
