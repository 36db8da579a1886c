# case: numpy_noise_in_a_traced_step
# verdict: bug; static: yes
# cause: python-state-in-graph; also: python-state-in-graph at line 30
# expect_line: 24
# expect_variables: - (the corruption is the same in every step)
# symptom_today: silent: every step sees the identical noise
# exit: 0
# fix: tf.random.normal(tf.shape(clean), stddev=0.4)
# source: tensorflow/tensorflow#36715 (noise that was drawn once and then frozen; 'people working on VAEs that are actually AEs'), tensorflow/tensorflow#33297 (what tf.function freezes at trace time)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
autoencoder = keras.Sequential([
    keras.layers.Input((10,)),
    keras.layers.Dense(6, activation="relu"),
    keras.layers.Dense(10),
])
opt = keras.optimizers.Adam(5e-3)


def corrupt(clean, level):
    noise = np.random.normal(0.0, level, size=clean.shape).astype("float32")
    return clean + noise


@tf.function
def denoising_step(clean):
    dirty = corrupt(clean, 0.4)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(autoencoder(dirty, training=True) - clean))
    grads = tape.gradient(loss, autoencoder.trainable_variables)
    opt.apply_gradients(zip(grads, autoencoder.trainable_variables))
    return loss, dirty - clean


signal = tf.random.normal((32, 10), seed=3)
seen = []
for epoch in range(5):
    loss, noise = denoising_step(signal)
    seen.append(noise.numpy())
print("loss", float(loss), "same noise in all steps:", all(np.allclose(seen[0], n, atol=1e-6) for n in seen))
assert np.allclose(seen[0], seen[-1], atol=1e-6)
