# case: argmax_for_the_report
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: argmax stands in the program but only the metric needs it (thresholds belong in metrics, not losses)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(5)
CLASSES = 3


class UNetLite(keras.Model):
    def __init__(self):
        super().__init__()
        self.down = keras.layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")
        self.up = keras.layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu")
        self.out = keras.layers.Conv2D(CLASSES, 1)

    def call(self, x):
        return self.out(self.up(self.down(x)))


def scenes(n=40, size=8):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(n, size, size, 1)).astype("float32")
    return x, np.digitize(x[..., 0], [0.33, 0.66]).astype("int32")


model = UNetLite()
optimizer = keras.optimizers.Adam(1e-2)
accuracy = keras.metrics.Mean(name="pixel_accuracy")


def soft_dice(labels, logits):
    prob = tf.nn.softmax(logits)
    truth = tf.one_hot(labels, CLASSES)
    overlap = tf.reduce_sum(prob * truth, axis=[1, 2])
    size = tf.reduce_sum(prob + truth, axis=[1, 2])
    return 1.0 - tf.reduce_mean((2.0 * overlap + 1.0) / (size + 1.0))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        predicted = tf.argmax(logits, axis=-1, output_type=tf.int32)
        hit = tf.cast(tf.equal(predicted, y), tf.float32)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_mean(ce) + soft_dice(y, logits)
    accuracy.update_state(tf.reduce_mean(hit))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x, y = scenes()
for epoch in range(6):
    accuracy.reset_state()
    for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(10):
        loss = train_step(a, b)
    print(epoch, float(loss), float(accuracy.result()))
