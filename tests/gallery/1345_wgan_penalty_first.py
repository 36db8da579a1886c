# case: wgan_penalty_first
# verdict: bug
# cause: outside-tape
# expect_line: 32 39
# expect_variables: -
# symptom_today: the penalty of a WGAN-GP whose value is added but which does not reach the critic's weights and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(2)
NOISE = 4


class WGAN:
    def __init__(self, weight=10.0):
        self.weight = weight
        self.critic = keras.Sequential([keras.Input((2,)), layers.Dense(32, activation="tanh"), layers.Dense(1)])
        self.generator = keras.Sequential([keras.Input((NOISE,)), layers.Dense(32, activation="relu"), layers.Dense(2)])
        self.c_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
        self.g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)

    def gradient_penalty(self, real, fake):
        alpha = tf.random.uniform((tf.shape(real)[0], 1), seed=9)
        mixed = real + alpha * (fake - real)
        with tf.GradientTape() as gp_tape:
            gp_tape.watch(mixed)
            score = self.critic(mixed)
        slope = gp_tape.gradient(score, mixed)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1) + 1e-12)
        return tf.reduce_mean(tf.square(norm - 1.0))

    @tf.function
    def critic_step(self, real):
        fake = self.generator(tf.random.normal((tf.shape(real)[0], NOISE), seed=1))
        gp = self.gradient_penalty(real, fake)
        with tf.GradientTape() as tape:
            wasserstein = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
            loss = wasserstein + self.weight * gp
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.c_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        return wasserstein, gp

    @tf.function
    def generator_step(self, n):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(self.generator(tf.random.normal((n, NOISE), seed=3))))
        grads = tape.gradient(loss, self.generator.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.generator.trainable_variables))


rng = np.random.default_rng(0)
points = (rng.normal(size=(512, 2)) * 0.2 + [2.0, -1.0]).astype("float32")
data = tf.data.Dataset.from_tensor_slices(points).batch(64)
gan = WGAN()
for epoch in range(12):
    for batch in data:
        w, gp = gan.critic_step(batch)
    gan.generator_step(tf.constant(64))
    if epoch % 4 == 0:
        print(epoch, "w", float(w), "gp", float(gp))
print("final gp", float(gp))
