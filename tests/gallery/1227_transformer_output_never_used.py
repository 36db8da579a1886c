# case: transformer_output_never_used
# verdict: bug; static: no
# cause: variable-not-in-loss
# expect_line: 33 32 36
# expect_variables: localiser/*
# symptom_today: silent: UserWarning Gradients do not exist for the localiser's variables
# exit: 0
# fix: pass the straightened image, not the raw one, to the convolution
# source: kevinzakka/spatial-transformer-network#3 (the classifier is fed the original image)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
localiser = keras.Sequential([keras.Input((10, 10, 1)), keras.layers.Flatten(), keras.layers.Dense(2, activation="tanh")], name="localiser")
backbone = keras.Sequential([keras.Input((10, 10, 1)), keras.layers.Conv2D(6, 3, activation="relu"), keras.layers.GlobalMaxPooling2D(),
                             keras.layers.Dense(3)], name="backbone")
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt = keras.optimizers.Adam(3e-3)


def shift_image(image, offset):
    rows = tf.range(10, dtype=tf.float32)[None, :] + 3.0 * offset[:, :1]
    weights = tf.nn.relu(1.0 - tf.abs(rows[:, :, None] - tf.range(10, dtype=tf.float32)[None, None, :]))
    return tf.einsum("bij,bjkc->bikc", weights, image)


@tf.function
def step(image, label):
    with tf.GradientTape() as tape:
        offset = localiser(image, training=True)
        straight = shift_image(image, offset)
        logits = backbone(image, training=True)
        loss = ce(label, logits)
    params = localiser.trainable_variables + backbone.trainable_variables
    grads = tape.gradient(loss, params)
    opt.apply_gradients(zip(grads, params))
    return loss, straight


rng = np.random.default_rng(1)
x = tf.constant(rng.normal(size=(24, 10, 10, 1)), tf.float32)
y = tf.constant(rng.integers(0, 3, 24))
frozen = localiser.get_weights()[0].copy()
for _ in range(4):
    loss, _ = step(x, y)
print("loss", float(loss))
assert np.array_equal(frozen, localiser.get_weights()[0])
