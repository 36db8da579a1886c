# case: noise_predictor_for_diffusion
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: denoising diffusion with sampled time steps
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
STEPS = 50
alpha_bar = tf.constant(np.cumprod(1.0 - np.linspace(1e-4, 0.1, STEPS)), tf.float32)


def time_features(t, width=8):
    frequency = tf.exp(-tf.range(0, width, 2, dtype=tf.float32))
    angle = tf.cast(t, tf.float32)[:, None] * frequency[None]
    return tf.concat([tf.sin(angle), tf.cos(angle)], axis=1)


class Diffusion(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = keras.Sequential([keras.layers.Dense(32, activation="swish"), keras.layers.Dense(2)])
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, inputs):
        noisy, t = inputs
        return self.net(tf.concat([noisy, time_features(t)], axis=1))

    def train_step(self, x):
        batch = tf.shape(x)[0]
        t = tf.random.uniform((batch,), 0, STEPS, dtype=tf.int32)
        level = tf.gather(alpha_bar, t)[:, None]
        noise = tf.random.normal(tf.shape(x))
        noisy = tf.sqrt(level) * x + tf.sqrt(1.0 - level) * noise
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self((noisy, t), training=True) - noise) ** 2)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


points = np.random.default_rng(4).normal(size=(256, 2)).astype("float32") * [2.0, 0.1]
model = Diffusion()
model.compile(optimizer=keras.optimizers.Adam(0.01, use_ema=True, ema_momentum=0.9))
losses = model.fit(points.astype("float32"), batch_size=32, epochs=5, verbose=0).history["loss"]
assert losses[-1] < losses[0]
