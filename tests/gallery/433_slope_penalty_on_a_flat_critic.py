# case: slope_penalty_on_a_flat_critic
# verdict: bug; static: no
# cause: nan-norm | nan-division
# expect_line: 27 33
# expect_variables: critic/*
# symptom_today: silent: the critic starts flat, the norm of its zero slope has a NaN gradient
# exit: 0
# fix: tf.sqrt(tf.reduce_sum(g * g, ...) + 1e-12)
# seen: gradient penalties at the first step
import keras
import numpy as np
import tensorflow as tf

critic = keras.Sequential([
    keras.layers.Input((2,)),
    keras.layers.Dense(8, activation="tanh"),
    keras.layers.Dense(1, kernel_initializer="zeros"),
], name="critic")
opt = keras.optimizers.RMSprop(1e-4)


def slope_penalty(points):
    with tf.GradientTape() as inner:
        inner.watch(points)
        score = critic(points, training=True)
    slope = inner.gradient(score, points)
    return tf.reduce_mean((tf.math.reduce_euclidean_norm(slope, axis=1) - 1.0) ** 2)


def critic_step(real, fake):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
        loss += 10.0 * slope_penalty(0.5 * (real + fake))
    grads = tape.gradient(loss, critic.trainable_variables)
    opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


loss = critic_step(tf.random.normal((8, 2), seed=1), tf.random.normal((8, 2), seed=2))
assert np.isfinite(loss) and any(np.isnan(w).any() for w in critic.get_weights())
