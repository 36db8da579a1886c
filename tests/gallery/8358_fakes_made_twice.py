# case: wgan_gp_two_passes
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: nothing is wrong; the critic's fakes are made outside of the tape on purpose, the generator's step makes them again inside of its own
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(29)

NOISE, BATCH, N_CRITIC, GP_WEIGHT = 4, 64, 5, 10.0


def real_points(n):
    """A ring segment in the plane, off to one side."""
    angle = np.random.uniform(0.0, np.pi, size=n)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) + [2.0, -1.0]
    return tf.constant(ring + 0.05 * np.random.normal(size=(n, 2)), tf.float32)


generator = keras.Sequential([
    keras.Input((NOISE,)),
    layers.Dense(32, activation="tanh", name="gen_hidden"),
    layers.Dense(2, name="gen_out"),
], name="generator")
critic = keras.Sequential([
    keras.Input((2,)),
    layers.Dense(48, activation="tanh", name="critic_hidden"),
    layers.Dense(1, use_bias=False, name="critic_score"),
], name="critic")
g_opt = keras.optimizers.Adam(2e-3, beta_1=0.5, beta_2=0.9)
c_opt = keras.optimizers.Adam(5e-3, beta_1=0.5, beta_2=0.9)


def gradient_penalty(real, fake):
    eps = tf.random.uniform([tf.shape(real)[0], 1])
    mixed = eps * real + (1.0 - eps) * fake
    with tf.GradientTape() as inner:
        inner.watch(mixed)
        score = critic(mixed)
    slope = inner.gradient(score, mixed)
    norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1) + 1e-8)
    return tf.reduce_mean(tf.square(norm - 1.0))


@tf.function
def critic_step(real, fake):
    with tf.GradientTape() as tape:
        distance = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(fake))
        loss = -distance + GP_WEIGHT * gradient_penalty(real, fake)
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return distance


@tf.function
def generator_step(z):
    with tf.GradientTape() as tape:
        g_loss = -tf.reduce_mean(critic(generator(z)))
    grads = tape.gradient(g_loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return g_loss


for it in range(160):
    z = tf.random.normal([BATCH, NOISE])
    # made outside of every tape: the critic's steps must not train the generator
    fake = generator(z)
    for _ in range(N_CRITIC):
        distance = critic_step(real_points(BATCH), fake)
    g_loss = generator_step(z)
    if it % 20 == 0 or it == 159:
        off = tf.norm(tf.reduce_mean(fake, axis=0) - tf.reduce_mean(real_points(BATCH), axis=0))
        print(f"iter {it:3d}  distance {float(distance):.3f}  g_loss {float(g_loss):.3f}  means apart {float(off):.3f}")
