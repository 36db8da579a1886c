# case: nearest_rotation_of_an_identity
# verdict: bug
# cause: zero-gradient-op
# expect_line: 44  59
# expect_variables: to_matrix/kernel, to_matrix/bias, point_mlp*/kernel, point_mlp*/bias
# symptom_today: the loss is the same in every epoch; all gradients are exactly zero
# exit: 0
# fix: start the head with distinct singular values (small random kernel and a bias such as diag(1.0, 1.2, 1.4)), or use a 6D / Gram-Schmidt head
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

SEED = 21
keras.utils.set_random_seed(SEED)


def random_rotations(n, rng, max_angle=1.0):
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    angle = rng.uniform(-max_angle, max_angle, size=(n, 1, 1))
    k = np.zeros((n, 3, 3))
    k[:, 0, 1], k[:, 0, 2] = -axis[:, 2], axis[:, 1]
    k[:, 1, 0], k[:, 1, 2] = axis[:, 2], -axis[:, 0]
    k[:, 2, 0], k[:, 2, 1] = -axis[:, 1], axis[:, 0]
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def pose_data(n, points=24):
    rng = np.random.default_rng(SEED)
    shape = rng.normal(size=(points, 3)) * np.array([1.0, 0.6, 0.3])
    rot = random_rotations(n, rng)
    cloud = np.einsum("nij,pj->npi", rot, shape) + 0.01 * rng.normal(size=(n, points, 3))
    return cloud.reshape(n, -1).astype("float32"), rot.astype("float32")


class NearestRotation(layers.Layer):
    """Projects 9 numbers to SO(3)."""

    def call(self, flat):
        m = ops.reshape(flat, (-1, 3, 3))
        _, u, v = tf.linalg.svd(m)
        det = tf.linalg.det(tf.matmul(u, v, transpose_b=True))
        flip = tf.stack([tf.ones_like(det), tf.ones_like(det), det], axis=-1)
        return tf.matmul(u * flip[:, None, :], v, transpose_b=True)


def identity_bias(shape, dtype=None):
    return ops.reshape(ops.eye(3, dtype=dtype), shape)


def pose_net(n_inputs):
    inputs = keras.Input((n_inputs,))
    h = inputs
    for i, width in enumerate((64, 32)):
        h = layers.Dense(width, activation="gelu", name=f"point_mlp{i}")(h)
    flat = layers.Dense(9, name="to_matrix", kernel_initializer="zeros", bias_initializer=identity_bias)(h)
    return keras.Model(inputs, NearestRotation(name="so3")(flat), name="pose")


def geodesic(y_true, y_pred):
    trace = tf.linalg.trace(tf.matmul(y_true, y_pred, transpose_a=True))
    return tf.acos(tf.clip_by_value((trace - 1.0) / 2.0, -0.999999, 0.999999))


def chordal(y_true, y_pred):
    return tf.reduce_sum(tf.square(y_true - y_pred), axis=(1, 2))


clouds, rotations = pose_data(512)
model = pose_net(clouds.shape[1])
initial = [v.numpy() for v in model.trainable_variables]
model.compile(keras.optimizers.Adam(2e-3), loss=chordal, metrics=[geodesic])
hist = model.fit(clouds, rotations, batch_size=64, epochs=4, verbose=0)
print("loss", [round(v, 4) for v in hist.history["loss"]], "geodesic", hist.history["geodesic"][-1])

with tf.GradientTape() as tape:
    loss = tf.reduce_mean(chordal(rotations[:64], model(clouds[:64], training=True)))
grads = tape.gradient(loss, model.trainable_variables)
print({v.path: float(tf.reduce_max(tf.abs(g))) for v, g in zip(model.trainable_variables, grads)})
assert loss > 0.1
assert all(float(tf.reduce_max(tf.abs(g))) == 0.0 for g in grads)
assert all(np.array_equal(a, v.numpy()) for a, v in zip(initial, model.trainable_variables))
