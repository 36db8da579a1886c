# case: image_preprocessed_once_before_the_loop
# verdict: bug; static: no
# cause: outside-tape | variable-not-in-loss
# expect_line: 32 37 39
# expect_variables: picture
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: preprocess the variable inside the tape
# seen: style transfer notebooks with a preprocessed copy of the output image
import keras
import numpy as np
import tensorflow as tf

MEAN = np.array([103.9, 116.8, 123.7], "float32")
features = keras.Sequential([keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(6, 3, activation="relu"),
                             keras.layers.Conv2D(6, 3, activation="relu")])
features.trainable = False


def preprocess(image):
    return image * 255.0 - MEAN


def gram(maps):
    maps = tf.reshape(maps, (-1, maps.shape[-1]))
    return tf.matmul(maps, maps, transpose_a=True) / tf.cast(tf.shape(maps)[0], tf.float32)


style = gram(features(preprocess(tf.random.uniform((1, 8, 8, 3), seed=1))))
content = features(preprocess(tf.random.uniform((1, 8, 8, 3), seed=2)))
picture = tf.Variable(tf.random.uniform((1, 8, 8, 3), seed=3), name="picture")
processed = preprocess(picture)
optimizer = keras.optimizers.Adam(0.02)

for step in range(4):
    with tf.GradientTape() as tape:
        maps = features(processed)
        loss = tf.reduce_mean((maps - content) ** 2) + 1e-4 * tf.reduce_mean((gram(maps) - style) ** 2)
    grad = tape.gradient(loss, picture)
    optimizer.apply_gradients([(grad, picture)])
    picture.assign(tf.clip_by_value(picture, 0.0, 1.0))
