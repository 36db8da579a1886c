# case: saliency_of_the_picture_and_of_each_map
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the running name is another one, and each map is asked for by itself
# exit: 0
# fix: -
# source: own words
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
convolutions = [tf.keras.layers.Conv2D(4, 3, padding="same", activation="relu") for _ in range(2)]
head = tf.keras.layers.Dense(3)
picture = tf.random.uniform((1, 8, 8, 4))
for layer in convolutions:
    layer.build((None, 8, 8, 4))
head.build((None, 4))

def saliency(image, of_maps):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(image)
        x, maps = image, []
        for layer in convolutions:
            x = layer(x)
            maps.append(x)
        best = tf.reduce_max(head(tf.reduce_mean(x, axis=(1, 2))))
    if of_maps:
        return [tape.gradient(best, each) for each in maps] + [tape.gradient(best, x)]
    return tape.gradient(best, image)

def sharpened(image, steps=3):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(image)
            best = tf.reduce_max(head(tf.reduce_mean(convolutions[0](image), axis=(1, 2))))
        image = image + 0.1 * tape.gradient(best, image)
    return image

assert saliency(picture, False).shape == (1, 8, 8, 4)
assert len(saliency(picture, True)) == 3
assert sharpened(picture).shape == picture.shape
