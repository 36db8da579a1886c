# case: camera_parameters_from_integer_array
# verdict: bug; static: no
# cause: int-variable
# expect_line: 21 25 40
# expect_variables: intrinsics
# symptom_today: silent: UserWarning Gradients do not exist for intrinsics (TensorFlow logs that the dtype must be floating)
# exit: 0
# fix: create the variable with dtype float32
# source: tensorflow/tensorflow#38211 (weights made from Python integers) and own words
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Pinhole(tf.Module):
    def __init__(self, focal, centre):
        super().__init__()
        start = np.array([focal, focal, centre[0], centre[1]])
        self.intrinsics = tf.Variable(start, name="intrinsics")
        self.distortion = tf.Variable(0.0, name="distortion")

    def __call__(self, points):
        k = tf.cast(self.intrinsics, tf.float32)
        plane = points[:, :2] / points[:, 2:]
        r2 = tf.reduce_sum(tf.square(plane), -1, keepdims=True)
        return plane * (1.0 + self.distortion * r2) * k[:2] + k[2:]


camera = Pinhole(100, (64, 48))
rng = np.random.default_rng(0)
world = tf.constant(np.c_[rng.normal(size=(40, 2)), rng.uniform(2, 4, 40)], tf.float32)
seen = world[:, :2] / world[:, 2:] * [110.0, 110.0] + [60.0, 50.0]
params = [camera.intrinsics, camera.distortion]
opt = keras.optimizers.SGD(1e-4)
for it in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(camera(world) - seen))
    grads = tape.gradient(loss, params)
    opt.apply_gradients(zip(grads, params))
print("loss", float(loss), "intrinsics", camera.intrinsics.numpy())
assert list(camera.intrinsics.numpy()) == [100, 100, 64, 48]
