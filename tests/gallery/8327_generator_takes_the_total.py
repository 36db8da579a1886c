# case: generator_takes_the_total
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a GAN that adds up its losses; the fake is stopped in the critic's part, two requests of one tape
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(47)
NOISE = 4


def bce(logits, target):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.fill(tf.shape(logits), target), logits))


class GAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = keras.Sequential(
            [layers.Input((NOISE,)), layers.Dense(24, activation="gelu"), layers.Dense(2)], name="generator")
        self.features = keras.Sequential([layers.Input((2,)), layers.Dense(24, activation="gelu")], name="features")
        self.verdict = keras.Sequential([layers.Input((24,)), layers.Dense(1)], name="verdict")
        self.tracker = keras.metrics.Mean(name="total")

    def compile(self, d_optimizer, g_optimizer):
        super().compile()
        self.d_optimizer, self.g_optimizer = d_optimizer, g_optimizer

    def call(self, noise, training=False):
        return self.generator(noise, training=training)

    def judge(self, points):
        seen = self.features(points, training=True)
        return self.verdict(seen, training=True), seen

    def train_step(self, real):
        noise = tf.random.normal((tf.shape(real)[0], NOISE))
        with tf.GradientTape(persistent=True) as tape:
            fake = self.generator(noise, training=True)
            real_logits, real_features = self.judge(real)
            stopped_logits, _ = self.judge(tf.stop_gradient(fake))
            fake_logits, fake_features = self.judge(fake)
            d_loss = 0.5 * (bce(real_logits, 0.9) + bce(stopped_logits, 0.0))
            matching = tf.reduce_mean(tf.square(tf.reduce_mean(real_features, 0) - tf.reduce_mean(fake_features, 0)))
            g_loss = bce(fake_logits, 1.0) + matching
            total = d_loss + g_loss
        critic = self.features.trainable_variables + self.verdict.trainable_variables
        makers = self.generator.trainable_variables
        self.d_optimizer.apply_gradients(zip(tape.gradient(d_loss, critic), critic))
        self.g_optimizer.apply_gradients(zip(tape.gradient(total, makers), makers))
        del tape
        self.tracker.update_state(total)
        return {"total": self.tracker.result(), "d": d_loss, "matching": matching}


rng = np.random.default_rng(47)
ring = np.stack([np.cos(a := rng.uniform(0, 6.28, 256)), np.sin(a) + 1.5], axis=1).astype("float32")
gan = GAN()
gan.compile(keras.optimizers.Adam(4e-3, beta_1=0.5), keras.optimizers.Adam(4e-3, beta_1=0.5))
before = [w.copy() for w in gan.get_weights()]
history = gan.fit(ring, epochs=4, batch_size=64, verbose=0).history
print({name: [round(float(v), 3) for v in values] for name, values in history.items()})
assert all(np.any(a != b) for a, b in zip(before, gan.get_weights()))
