# case: patch_saved_as_bytes_before_the_classifier
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 26 27
# expect_variables: patch
# symptom_today: the gradient of the patch is None; the sign step raises ValueError
# exit: 1 (ValueError)
# fix: stay in float under the tape, convert to uint8 only when the image is written
# seen: adversarial patches and image codecs
import keras
import tensorflow as tf

classifier = keras.Sequential([keras.layers.Input((16, 16, 3)), keras.layers.Conv2D(4, 3, strides=2, activation="relu"),
                               keras.layers.Flatten(), keras.layers.Dense(5)])
classifier.trainable = False
patch = tf.Variable(tf.random.uniform((4, 4, 3), seed=0), name="patch")


def place(image, patch, row, col):
    paddings = [[row, 16 - 4 - row], [col, 16 - 4 - col], [0, 0]]
    mask = tf.pad(tf.ones_like(patch), paddings)
    return image * (1.0 - mask) + tf.pad(patch, paddings) * mask


def as_camera_sees(image):
    bytes_ = tf.image.convert_image_dtype(image, tf.uint8, saturate=True)
    return tf.image.convert_image_dtype(bytes_, tf.float32)


def attack(images, target, rate=0.05):
    with tf.GradientTape() as tape:
        seen = tf.stack([as_camera_sees(place(image, patch, 3, 5)) for image in images])
        logits = classifier(seen)
        loss = keras.losses.sparse_categorical_crossentropy(tf.fill([len(images)], target), logits, from_logits=True)
    step = tape.gradient(loss, patch)
    patch.assign(tf.clip_by_value(patch - rate * tf.sign(step), 0.0, 1.0))


attack(tf.random.uniform((3, 16, 16, 3), seed=1), target=2)
