# case: wgan_gp_three_critic_steps
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the fakes of the critic are stopped, the generator waits for three critic steps, an average of its weights is written by hand
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(6)
HP = {"noise": 4, "batch": 128, "n_critic": 3, "gp": 2.0, "drift": 1e-3, "rounds": 160, "lr": 2e-3, "ema": 0.97}


def real_batches(seed=0, batch=HP["batch"]):
    """A tilted ellipse away from the origin."""
    rng = np.random.default_rng(seed)
    while True:
        angle = rng.uniform(0, 2 * np.pi, batch)
        points = np.stack([0.8 * np.cos(angle) + 0.7, 0.4 * np.sin(angle) + 0.3 * np.cos(angle) - 0.5], axis=1)
        yield tf.constant(points + 0.03 * rng.normal(size=points.shape), tf.float32)


def make_generator(name):
    return keras.Sequential(
        [
            keras.Input((HP["noise"],)),
            layers.Dense(32, activation="swish", name=name + "_1"),
            layers.Dense(32, activation="swish", name=name + "_2"),
            layers.Dense(2, name=name + "_out"),
        ],
        name=name,
    )


def make_critic():
    return keras.Sequential(
        [
            keras.Input((2,)),
            layers.Dense(48, activation="swish", name="critic_1"),
            layers.Dense(48, activation="swish", name="critic_2"),
            layers.Dense(1, name="critic_out"),
        ],
        name="critic",
    )


class WGAN:
    def __init__(self):
        self.generator, self.critic = make_generator("generator"), make_critic()
        self.averaged = make_generator("averaged")
        self.averaged.trainable = False
        self.averaged.set_weights(self.generator.get_weights())
        self.g_opt = keras.optimizers.Adam(HP["lr"], beta_1=0.5, beta_2=0.9)
        self.c_opt = keras.optimizers.Adam(HP["lr"], beta_1=0.5, beta_2=0.9)

    def penalty(self, real, fake):
        mix = tf.random.uniform((tf.shape(real)[0], 1))
        between = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = self.critic(between, training=True)
        slope = inner.gradient(score, between)
        norm = tf.sqrt(tf.reduce_sum(slope ** 2, axis=1) + 1e-8)
        return tf.reduce_mean((norm - 1.0) ** 2)

    @tf.function
    def critic_step(self, real):
        fake = self.generator(tf.random.normal((HP["batch"], HP["noise"])), training=True)
        fake = tf.stop_gradient(fake)
        with tf.GradientTape() as tape:
            on_real, on_fake = self.critic(real, training=True), self.critic(fake, training=True)
            distance = tf.reduce_mean(on_real) - tf.reduce_mean(on_fake)
            # the difference does not fix the level of the critic, the drift term does
            loss = -distance + HP["gp"] * self.penalty(real, fake) + HP["drift"] * tf.reduce_mean(on_real ** 2)
        weights = self.critic.trainable_variables
        self.c_opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return distance

    @tf.function
    def generator_step(self):
        noise = tf.random.normal((HP["batch"], HP["noise"]))
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(self.generator(noise, training=True), training=True))
        weights = self.generator.trainable_variables
        self.g_opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
        for slow, fast in zip(self.averaged.variables, weights):
            slow.assign(HP["ema"] * slow + (1.0 - HP["ema"]) * fast)
        return loss


def moment_gap(net, real, seed):
    fake = net(tf.random.stateless_normal((512, HP["noise"]), (seed, 1)), training=False).numpy()
    real = real.numpy()
    return float(np.abs(fake.mean(0) - real.mean(0)).sum() + np.abs(np.cov(fake.T) - np.cov(real.T)).sum())


gan, data = WGAN(), real_batches()
held_out = next(real_batches(seed=5, batch=512))
start = moment_gap(gan.generator, held_out, 0)
distances = []
for i in range(HP["rounds"]):
    for _ in range(HP["n_critic"]):
        distance = gan.critic_step(next(data))
    gan.generator_step()
    distances.append(float(distance))
    if i % 40 == 39:
        print("round %3d  distance %.3f  gap of moments %.3f (averaged %.3f)" % (
            i + 1, np.mean(distances[-20:]), moment_gap(gan.generator, held_out, i), moment_gap(gan.averaged, held_out, i)))
end = moment_gap(gan.averaged, held_out, 1)
print("gap of moments %.3f -> %.3f" % (start, end))
assert end < 0.4 * start
assert np.mean(distances[-20:]) < 0.5 * max(distances)
