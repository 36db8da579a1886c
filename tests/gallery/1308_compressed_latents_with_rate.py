# case: compressed_latents_with_rate
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 33
# expect_variables: analyser/*
# symptom_today: silent: the rate falls to nothing, the distortion hardly falls
# exit: 0
# fix: add uniform noise while training, or round straight-through: y + tf.stop_gradient(tf.round(y) - y)
# seen: terms of the loss: distortion (cut from analyser), 0.01 * rate (reaches analyser only)
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(23)


class Codec(keras.Model):
    def __init__(self, bottleneck=4, lmbda=0.01):
        super().__init__()
        self.lmbda = lmbda
        self.analyser = keras.Sequential(
            [layers.Input((8, 8, 1)), layers.Conv2D(6, 3, strides=2, padding="same", activation="gelu"),
             layers.Conv2D(bottleneck, 3, strides=2, padding="same")], name="analyser")
        self.synthesiser = keras.Sequential(
            [layers.Input((2, 2, bottleneck)), layers.Conv2DTranspose(6, 3, strides=2, padding="same", activation="gelu"),
             layers.Conv2DTranspose(1, 3, strides=2, padding="same")], name="synthesiser")
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, image, training=False):
        y = self.analyser(image * 10.0, training=training)
        rate = tf.reduce_mean(tf.math.log1p(tf.square(y)))
        symbols = tf.round(y)
        return self.synthesiser(symbols, training=training), rate

    def train_step(self, image):
        with tf.GradientTape() as tape:
            restored, rate = self(image, training=True)
            distortion = tf.reduce_mean(tf.square(restored - image))
            loss = distortion + self.lmbda * rate
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result(), "distortion": distortion, "rate": rate}


rng = np.random.default_rng(23)
rows = rng.normal(size=(96, 8, 1, 1)).cumsum(axis=1)
columns = rng.normal(size=(96, 1, 8, 1)).cumsum(axis=2)
images = (rows * columns / 8.0).astype("float32")
codec = Codec()
codec.compile(optimizer=keras.optimizers.Adam(3e-3))
history = codec.fit(images, epochs=4, batch_size=24, verbose=0).history
print({name: [round(float(v), 4) for v in values] for name, values in history.items()})
assert history["rate"][-1] < history["rate"][0]
