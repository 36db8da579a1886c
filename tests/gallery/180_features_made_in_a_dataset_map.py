# case: features_made_in_a_dataset_map
# verdict: bug; static: no
# cause: state-boundary
# expect_line: 26 30
# expect_variables: backbone/*
# symptom_today: Keras warns for the backbone: it never learns
# exit: 0
# fix: keep raw images in the dataset and call the backbone in the training step
# seen: an encoder moved into Dataset.map to make the input pipeline tidy
import keras
import numpy as np
import tensorflow as tf


def build():
    backbone = keras.Sequential([keras.layers.Input((6, 6, 1)), keras.layers.Conv2D(4, 3, activation="relu"),
                                 keras.layers.GlobalAveragePooling2D()], name="backbone")
    head = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)], name="head")
    return backbone, head


def train(backbone, head, images, labels, epochs=2):
    opt = keras.optimizers.Adam(1e-2)
    cce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(8)
    data = data.map(lambda x, y: (backbone(x, training=True), y))
    variables = backbone.trainable_variables + head.trainable_variables
    for _ in range(epochs):
        with tf.GradientTape() as tape:
            losses = [cce(y, head(features, training=True)) for features, y in data]
            loss = tf.add_n(losses) / len(losses)
        opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return float(loss)


keras.utils.set_random_seed(6)
backbone, head = build()
before = backbone.get_weights()[0]
rng = np.random.default_rng(6)
print(train(backbone, head, rng.random((24, 6, 6, 1), dtype="float32"), rng.integers(0, 3, 24)))
assert np.array_equal(before, backbone.get_weights()[0])
