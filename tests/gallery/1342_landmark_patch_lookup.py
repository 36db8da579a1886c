# case: landmark_patch_lookup
# verdict: bug
# cause: non-differentiable-op
# expect_line: 40
# expect_variables: -
# symptom_today: predicted coordinates turned into integer indices inside a custom loss, cf. and the list in
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(11)
SIZE = 16


class LandmarkNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.flatten = keras.layers.Flatten()
        self.trunk = keras.layers.Dense(24, activation="tanh")
        self.centre = keras.layers.Dense(2, activation="sigmoid", name="centre")
        self.radius = keras.layers.Dense(1, activation="softplus", name="radius")

    def call(self, images):
        h = self.trunk(self.flatten(images))
        return self.centre(h) * (SIZE - 1), self.radius(h)


def sample_batch(rng, n=16):
    grid = np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij"), -1)
    centre = rng.uniform(3, SIZE - 4, size=(n, 1, 1, 2))
    radius = rng.uniform(1.5, 3.0, size=(n, 1))
    dist = np.linalg.norm(grid[None] - centre, axis=-1)
    blob = np.exp(-((dist / radius[:, :, None]) ** 2))
    return blob.astype("float32"), radius.astype("float32")


def intensity_at(images, centre):
    rows = tf.cast(centre, tf.int32)
    return tf.gather_nd(images, rows, batch_dims=1)


def objective(net, images, radius):
    centre, predicted = net(images)
    brightness = 1.0 - tf.reduce_mean(intensity_at(images, centre))
    width = tf.reduce_mean(tf.square(predicted - radius))
    decay = tf.add_n([tf.nn.l2_loss(v) for v in net.trainable_variables])
    return brightness + width + 1e-4 * decay, brightness


net = LandmarkNet()
optimizer = keras.optimizers.Adam(5e-3)
rng = np.random.default_rng(2)
for step in range(40):
    images, radius = sample_batch(rng)
    with tf.GradientTape() as tape:
        loss, brightness = objective(net, images, radius)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    if step % 10 == 0:
        print(step, "loss", float(loss), "brightness term", float(brightness))
