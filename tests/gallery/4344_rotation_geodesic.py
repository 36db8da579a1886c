# case: rotation_geodesic
# verdict: bug
# cause: nan-acos
# expect_line: 26
# expect_variables: -
# symptom_today: arc cosine of a cosine that reaches one, as in angular margin losses that give NaN (others shift the product by 1e-5
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)


def rotation_z(angle):
    c, s, z = tf.cos(angle), tf.sin(angle), tf.zeros_like(angle)
    rows = [tf.stack([c, -s, z], -1), tf.stack([s, c, z], -1), tf.stack([z, z, z + 1.0], -1)]
    return tf.stack(rows, axis=-2)


def geodesic(a, b):
    relative = tf.matmul(a, b, transpose_b=True)
    cosine = (tf.linalg.trace(relative) - 1.0) / 2.0
    cosine = tf.clip_by_value(cosine, -1.0, 1.0)
    return tf.acos(cosine)


class HeadingNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = keras.layers.Dense(16, activation="relu")
        self.angle = keras.layers.Dense(1, kernel_initializer="zeros")

    def call(self, x):
        return rotation_z(self.angle(self.features(x))[:, 0])


net = HeadingNet()
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(x, rotation):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(geodesic(net(x), rotation))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


rng = np.random.default_rng(3)
imu = rng.normal(size=(120, 5)).astype("float32")
heading = np.where(rng.uniform(size=120) < 0.3, 0.0, 0.5 * imu[:, 0]).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((imu, rotation_z(tf.constant(heading)))).batch(30)
for epoch in range(2):
    for x, r in dataset:
        loss = train_step(x, r)
        print(epoch, float(loss))
