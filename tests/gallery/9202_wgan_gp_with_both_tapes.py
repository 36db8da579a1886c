# case: wgan_gp_with_both_tapes
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: tensorflow/tensorflow#36436 (the working form of the gradient penalty)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def net(n_in, n_out, name):
    return keras.Sequential([keras.layers.Input((n_in,)), keras.layers.Dense(16, activation="swish"), keras.layers.Dense(n_out)], name=name)


class WganGp(keras.Model):
    def __init__(self):
        super().__init__()
        self.g, self.d = net(2, 2, "g"), net(2, 1, "d")
        self.g_opt, self.d_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)

    def slope_penalty(self, real, fake):
        t = tf.random.uniform((tf.shape(real)[0], 1))
        mid = t * real + (1 - t) * fake
        with tf.GradientTape() as inner:
            inner.watch(mid)
            value = self.d(mid)
        return tf.reduce_mean(tf.square(tf.norm(inner.gradient(value, mid) + 1e-12, axis=1) - 1.0))

    def train_step(self, real):
        z = tf.random.normal((tf.shape(real)[0], 2))
        with tf.GradientTape() as d_tape:
            fake = tf.stop_gradient(self.g(z))                # the critic's step does not train the generator
            d_loss = tf.reduce_mean(self.d(fake)) - tf.reduce_mean(self.d(real)) + 10.0 * self.slope_penalty(real, fake)
        self.d_opt.apply_gradients(zip(d_tape.gradient(d_loss, self.d.trainable_variables), self.d.trainable_variables))
        with tf.GradientTape() as g_tape:
            g_loss = -tf.reduce_mean(self.d(self.g(z)))
        self.g_opt.apply_gradients(zip(g_tape.gradient(g_loss, self.g.trainable_variables), self.g.trainable_variables))
        return {"d": d_loss, "g": g_loss}


gan = WganGp()
gan.compile()
before = [gan.g.get_weights()[0].copy(), gan.d.get_weights()[0].copy()]
hist = gan.fit(np.random.default_rng(0).normal(2.0, 0.5, size=(64, 2)).astype("float32"), batch_size=16, epochs=3, verbose=0)
assert not np.array_equal(before[0], gan.g.get_weights()[0]) and not np.array_equal(before[1], gan.d.get_weights()[0])
print("ok", hist.history["d"][0], hist.history["d"][-1])
