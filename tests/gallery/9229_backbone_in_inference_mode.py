# case: backbone_in_inference_mode
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the frozen backbone runs with training=False on purpose, evaluation too
# exit: 0
# fix: -
# source: own; the fine-tuning recipe of the Keras guide (batch normalisation stays in inference mode)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
backbone = keras.Sequential([keras.layers.Input((8, 8, 1)), keras.layers.Conv2D(6, 3), keras.layers.BatchNormalization(),
                             keras.layers.ReLU(), keras.layers.GlobalAveragePooling2D()], name="backbone")
backbone.trainable = False
head = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dropout(0.1), keras.layers.Dense(1)], name="head")
opt = keras.optimizers.Adam(5e-2)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(images, labels):
    features = backbone(images, training=False)
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, head(features, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, head.trainable_variables), head.trainable_variables))
    return loss


@tf.function
def test_step(images, labels):
    return loss_fn(labels, head(backbone(images, training=False), training=False))


rng = np.random.default_rng(0)
labels = rng.integers(0, 2, size=(64, 1)).astype("float32")
images = (rng.normal(size=(64, 8, 8, 1)) + 2.0 * labels[:, :, None, None]).astype("float32")
before = float(test_step(images, labels))
for _ in range(40):
    train_step(images, labels)
after = float(test_step(images, labels))
assert after < before and np.all(backbone.layers[1].moving_mean.numpy() == 0)
print("ok", before, after)
