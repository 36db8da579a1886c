# case: adversarial_autoencoder_ascent
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the minus of the critic's ascent is put on its gradients after the tape, and the sum after the tape is only for the log
# exit: 0
# fix: -
#
# GAN tutorial turned into an adversarial autoencoder for spectra: the codes shall look like a standard normal.
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(34)
rng = np.random.default_rng(34)
WAVES, CODE, FOOL_WEIGHT = 20, 3, 0.05


def spectra(n):
    grid = np.linspace(-1, 1, WAVES)
    centres = np.array([-0.6, 0.0, 0.5])
    peaks = np.exp(-((grid[None] - centres[:, None]) / 0.25) ** 2)
    s = rng.normal(0, 1, (n, 3)) @ peaks + rng.normal(0, 0.05, (n, WAVES))
    return s.astype("float32")


encoder = keras.Sequential([keras.Input((WAVES,)), layers.Dense(32, activation="tanh"),
                            layers.Dense(CODE)], name="encoder")
decoder = keras.Sequential([keras.Input((CODE,)), layers.Dense(32, activation="tanh"),
                            layers.Dense(WAVES)], name="decoder")
critic = keras.Sequential([keras.Input((CODE,)), layers.Dense(24, activation="gelu"),
                           layers.Dense(1)], name="critic")
ae_opt = keras.optimizers.Adam(0.005)
critic_opt = keras.optimizers.Adam(0.001)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(x):
    prior = tf.random.normal([tf.shape(x)[0], CODE])
    with tf.GradientTape() as ae_tape, tf.GradientTape() as critic_tape:
        z = encoder(x, training=True)
        rec = decoder(z, training=True)
        real_out = critic(prior, training=True)
        fake_out = critic(z, training=True)
        recon = tf.reduce_mean(tf.square(x - rec))
        fool = bce(tf.ones_like(fake_out), fake_out)
        # log-likelihood of telling codes from noise: the critic wants it as large as possible
        gain = tf.reduce_mean(tf.math.log_sigmoid(real_out)) + tf.reduce_mean(tf.math.log_sigmoid(-fake_out))
        ae_loss = recon + FOOL_WEIGHT * fool

    ae_vars = encoder.trainable_variables + decoder.trainable_variables
    ae_grads = ae_tape.gradient(ae_loss, ae_vars)
    critic_grads = critic_tape.gradient(gain, critic.trainable_variables)
    ae_opt.apply_gradients(zip(ae_grads, ae_vars))
    critic_opt.apply_gradients([(-g, v) for g, v in zip(critic_grads, critic.trainable_variables)])
    everything = recon + FOOL_WEIGHT * fool - gain
    return recon, fool, gain, everything


data = tf.data.Dataset.from_tensor_slices(spectra(512)).shuffle(512, seed=1).batch(64).repeat(12)
for step, batch in enumerate(data):
    recon, fool, gain, everything = train_step(batch)
    if step % 16 == 0:
        print(f"{step:3d}  reconstruction {float(recon):.4f}  fool {float(fool):.3f}  "
              f"gain {float(gain):.3f}  all {float(everything):.3f}")
