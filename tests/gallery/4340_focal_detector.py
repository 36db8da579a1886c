# case: focal_detector
# verdict: bug
# cause: nan-log
# expect_line: 17 18
# expect_variables: -
# symptom_today: focal loss turns NaN through the unguarded log and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(9)


def focal_loss(y, p, gamma=2.0, alpha=0.25):
    positive = -alpha * tf.pow(1.0 - p, gamma) * y * tf.math.log(p)
    negative = -(1.0 - alpha) * tf.pow(p, gamma) * (1.0 - y) * tf.math.log(1.0 - p)
    return tf.reduce_mean(positive + negative)


class Detector(tf.Module):
    def __init__(self, width):
        super().__init__()
        init = tf.random.Generator.from_seed(1)
        self.w = tf.Variable(init.normal((width, 1), stddev=0.3), name="w")
        self.b = tf.Variable(tf.zeros((1,)), name="b")

    def __call__(self, x):
        return tf.sigmoid(tf.matmul(x, self.w) + self.b)


rng = np.random.default_rng(0)
signal = rng.normal(size=(256, 6)).astype("float32") * np.array([1, 1, 1, 1, 1, 120], "float32")
label = (signal[:, :1] + signal[:, 1:2] > 0).astype("float32")

detector = Detector(6)
optimizer = keras.optimizers.SGD(0.05)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = focal_loss(y, detector(x))
    grads = tape.gradient(loss, detector.trainable_variables)
    optimizer.apply_gradients(zip(grads, detector.trainable_variables))
    return loss


for epoch in range(3):
    for x, y in tf.data.Dataset.from_tensor_slices((signal, label)).batch(32):
        loss = train_step(x, y)
    print(epoch, "loss", float(loss), "w", detector.w.numpy().ravel()[:3])
