# case: autoencoder_two_parts
# verdict: bug
# cause: misrouted-gradient
# expect_line: 42 43
# expect_variables: -
# symptom_today: one optimizer call for several networks with lists put together by hand and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(13)
WIDTH = 12


def block(name):
    return keras.Sequential([
        keras.Input((WIDTH,)),
        layers.Dense(WIDTH, activation="tanh"),
        layers.Dense(WIDTH),
    ], name=name)


class Denoiser:
    def __init__(self):
        self.encoder = block("encoder")
        self.decoder = block("decoder")
        self.optimizer = keras.optimizers.SGD(0.1)
        self.optimizer.build(self.encoder.trainable_variables + self.decoder.trainable_variables)

    def reconstruct(self, x):
        return self.decoder(self.encoder(x))

    @tf.function
    def train_step(self, noisy, clean):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.reconstruct(noisy) - clean))
        weights = self.encoder.trainable_variables + self.decoder.trainable_variables
        grads = tape.gradient(loss, weights)
        self.optimizer.apply_gradients(
            zip(grads, self.decoder.trainable_variables + self.encoder.trainable_variables))
        return loss


rng = np.random.default_rng(4)
basis = rng.normal(size=(3, WIDTH)) / np.sqrt(3)
clean = (rng.normal(size=(400, 3)) @ basis).astype("float32")
noisy = clean + 0.2 * rng.normal(size=clean.shape).astype("float32")
data = tf.data.Dataset.from_tensor_slices((noisy, clean)).shuffle(400, seed=2).batch(50)

denoiser = Denoiser()
for epoch in range(10):
    for a, b in data:
        loss = denoiser.train_step(a, b)
    if epoch % 3 == 0:
        print(epoch, float(loss))
