# case: colour_jitter_behind_the_generator
# verdict: bug; static: no
# cause: no-registered-gradient
# expect_line: 28 34 35
# expect_variables: painter/*
# symptom_today: raises LookupError: gradient registry has no entry for: AdjustHue
# exit: 1 (LookupError)
# fix: jitter brightness or saturation by plain arithmetic; hue only on the real images
# seen: differentiable augmentation written with tf.image
import keras
import tensorflow as tf

painter = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(4 * 4 * 3, activation="sigmoid"),
                            keras.layers.Reshape((4, 4, 3))], name="painter")
judge = keras.Sequential([keras.layers.Input((4, 4, 3)), keras.layers.Flatten(), keras.layers.Dense(1)], name="judge")


class PaintGAN(keras.Model):
    def __init__(self, painter, judge):
        super().__init__()
        self.painter, self.judge = painter, judge

    def call(self, z):
        return self.judge(self.augment(self.painter(z)))

    def augment(self, images):
        images = tf.image.random_flip_left_right(images)
        return tf.image.random_hue(images, 0.2)

    def train_step(self, data):
        z = tf.random.normal((tf.shape(data)[0], 6))
        with tf.GradientTape() as tape:
            fake = self.painter(z, training=True)
            loss = -tf.reduce_mean(self.judge(self.augment(fake), training=False))
        grads = tape.gradient(loss, self.painter.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.painter.trainable_variables))
        return {"g_loss": loss}


gan = PaintGAN(painter, judge)
gan.compile(optimizer=keras.optimizers.Adam(2e-4))
gan.fit(tf.random.uniform((16, 4, 4, 3), seed=1), batch_size=8, epochs=1, verbose=0)
