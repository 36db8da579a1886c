"""A convolutional net with batch normalisation and dropout, in a loop of one's own."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
images = tf.random.normal((128, 8, 8, 1), mean=5.0, stddev=3.0)
labels = tf.cast(tf.reduce_mean(images[:, :4], axis=[1, 2, 3]) > tf.reduce_mean(images, axis=[1, 2, 3]), tf.int32)
batches = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32)

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(8, 3, use_bias=False),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.Flatten(),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(2),
    ]
)
optimizer = keras.optimizers.Adam(0.005)
entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

for epoch in range(4):
    for inputs, targets in batches:
        with tf.GradientTape() as tape:
            loss = entropy(targets, model(inputs, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print(f"epoch {epoch}  loss {float(loss):.3f}")
