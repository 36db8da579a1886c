# case: dice_rounded_with_decay
# verdict: bug
# cause: non-differentiable-op | zero-gradient-op
# expect_line: 38
# expect_variables: -
# symptom_today: a dice objective on rounded masks that never improves
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
DECAY = 1e-3


def make_images(n, size=12):
    rng = np.random.default_rng(5)
    masks = np.zeros((n, size, size, 1), "float32")
    for m in masks:
        r, c = rng.integers(1, size - 5, 2)
        m[r:r + 4, c:c + 4] = 1.0
    images = masks + 0.3 * rng.normal(size=masks.shape).astype("float32")
    return images, masks


class SegNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.layers.Conv2D(6, 3, padding="same", activation="relu")
        self.head = keras.layers.Conv2D(1, 1, activation="sigmoid")

    def call(self, x):
        return self.head(self.body(x))


def dice_loss(mask, prob, eps=1.0):
    prob = tf.round(prob)
    overlap = tf.reduce_sum(mask * prob, axis=[1, 2, 3])
    total = tf.reduce_sum(mask, axis=[1, 2, 3]) + tf.reduce_sum(prob, axis=[1, 2, 3])
    return 1.0 - tf.reduce_mean((2.0 * overlap + eps) / (total + eps))


net = SegNet()
optimizer = keras.optimizers.Adam(1e-2)
images, masks = make_images(32)
net(images[:1])


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        prob = net(x)
        dice = dice_loss(y, prob)
        decay = tf.add_n([tf.nn.l2_loss(w) for w in net.trainable_variables])
        loss = dice + DECAY * decay
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return dice, decay


data = tf.data.Dataset.from_tensor_slices((images, masks)).batch(8)
for epoch in range(6):
    for x, y in data:
        dice, decay = train_step(x, y)
    print(epoch, float(dice), float(decay))
