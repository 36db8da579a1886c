# case: sketch_gan_patches
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: nothing wrong; one label per picture is meant to broadcast over the patches of that picture
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)
S = 16


def make_pairs(n):
    """Sketch (outline of a box) -> picture (box filled with a shade that falls off to the right), in -1..1."""
    sketch = -np.ones((n, S, S, 1), "float32")
    photo = -np.ones((n, S, S, 1), "float32")
    for i in range(n):
        t, l = np.random.randint(1, 6, size=2)
        b, r = np.random.randint(9, 15, size=2)
        sketch[i, [t, b], l:r + 1] = 1.0
        sketch[i, t:b + 1, [l, r]] = 1.0
        photo[i, t:b + 1, l:r + 1, 0] = np.linspace(0.9, -0.2, r - l + 1)
    return sketch, photo


def painter():
    i = keras.Input((S, S, 1))
    d1 = layers.LeakyReLU()(layers.Conv2D(12, 4, strides=2, padding="same")(i))
    d2 = layers.LeakyReLU()(layers.Conv2D(24, 4, strides=2, padding="same")(d1))
    u1 = layers.LeakyReLU()(layers.Conv2DTranspose(12, 4, strides=2, padding="same")(d2))
    u1 = layers.Concatenate()([u1, d1])
    return keras.Model(i, layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh")(u1))


def critic():
    sk, ph = keras.Input((S, S, 1)), keras.Input((S, S, 1))
    h = layers.Concatenate()([sk, ph])
    h = layers.LeakyReLU()(layers.Conv2D(12, 4, strides=2, padding="same")(h))
    h = layers.LeakyReLU()(layers.Conv2D(24, 4, strides=2, padding="same")(h))
    return keras.Model([sk, ph], layers.Conv2D(1, 3, padding="same")(h))           # 4 x 4 scores, one per patch


class SketchGAN(keras.Model):
    def __init__(self, gen, disc, l1_weight=10.0):
        super().__init__()
        self.gen, self.disc, self.l1_weight = gen, disc, l1_weight

    def compile(self, g_opt, d_opt):
        super().compile()
        self.g_opt, self.d_opt = g_opt, d_opt

    def train_step(self, data):
        sketch, photo = data
        n = tf.shape(sketch)[0]
        # critic: least squares, 1 = real, 0 = painted
        fake = self.gen(sketch, training=True)
        labels = tf.concat([tf.ones((n, 1, 1, 1)), tf.zeros((n, 1, 1, 1))], axis=0)
        with tf.GradientTape() as tape:
            scores = self.disc([tf.concat([sketch, sketch], 0), tf.concat([photo, fake], 0)], training=True)
            d_loss = tf.reduce_mean(tf.square(labels - scores))
        grads = tape.gradient(d_loss, self.disc.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.disc.trainable_variables))
        # painter
        with tf.GradientTape() as tape:
            fake = self.gen(sketch, training=True)
            fooled = tf.reduce_mean(tf.square(1.0 - self.disc([sketch, fake], training=True)))
            l1 = tf.reduce_mean(tf.abs(photo - fake))
            g_loss = fooled + self.l1_weight * l1
        grads = tape.gradient(g_loss, self.gen.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return {"d_loss": d_loss, "g_loss": g_loss, "l1": l1}


sketch, photo = make_pairs(128)
gan = SketchGAN(painter(), critic())
gan.compile(keras.optimizers.Adam(2e-3, beta_1=0.5), keras.optimizers.Adam(2e-3, beta_1=0.5))
hist = gan.fit(sketch, photo, batch_size=16, epochs=10, verbose=0).history
for e in range(10):
    print(f"epoch {e}: d_loss {hist['d_loss'][e]:.4f}  g_loss {hist['g_loss'][e]:.4f}  l1 {hist['l1'][e]:.4f}")
real = np.ravel(gan.disc.predict([sketch, photo], verbose=0))
paint = np.ravel(gan.disc.predict([sketch, gan.gen.predict(sketch, verbose=0)], verbose=0))
print(f"scores: real {real.mean():.3f}  painted {paint.mean():.3f}  spread of real {real.std():.4f}")
