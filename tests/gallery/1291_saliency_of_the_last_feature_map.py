# case: saliency_of_the_last_feature_map
# verdict: bug; static: no
# cause: wrong-source-object
# expect_line: 29
# expect_variables: image
# symptom_today: silent: the map has the shape of the last layer's output and is shown as that of the picture
# exit: 0
# fix: keep the picture under its own name
# source: own words, after reports of saliency maps of the wrong size
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
convolutions = [tf.keras.layers.Conv2D(4, 3, padding="same", activation="relu") for _ in range(2)]
head = tf.keras.layers.Dense(3)
picture = tf.random.uniform((1, 8, 8, 4))
for layer in convolutions:
    layer.build((None, 8, 8, 4))
head.build((None, 4))

@tf.function
def saliency(image):
    image = tf.identity(image)
    with tf.GradientTape() as tape:
        tape.watch(image)
        for layer in convolutions:
            image = layer(image)
        scores = head(tf.reduce_mean(image, axis=(1, 2)))
        best = tf.reduce_max(scores)
    shown = tape.gradient(best, image)
    return tf.reduce_max(tf.abs(shown), axis=-1)

found = saliency(picture)
print(found.shape, float(tf.math.reduce_std(found)))
assert float(tf.math.reduce_std(found)) < 1e-6  # the mean spreads it evenly: nothing of the picture is in it
