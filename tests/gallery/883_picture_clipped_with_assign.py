# case: picture_clipped_with_assign
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: style transfer with a variable image kept in range
import keras
import tensorflow as tf

keras.utils.set_random_seed(3)
inputs = keras.Input((10, 10, 3))
low = keras.layers.Conv2D(6, 3, activation="relu", name="low")(inputs)
high = keras.layers.Conv2D(6, 3, activation="relu", name="high")(low)
extractor = keras.Model(inputs, [low, high])
extractor.trainable = False


def gram(maps):
    flat = tf.reshape(maps, (-1, maps.shape[-1]))
    return tf.matmul(flat, flat, transpose_a=True) / tf.cast(tf.shape(flat)[0], tf.float32)


style = gram(extractor(tf.random.uniform((1, 10, 10, 3), seed=1))[0])
content = extractor(tf.random.uniform((1, 10, 10, 3), seed=2))[1]
image = tf.Variable(tf.random.uniform((1, 10, 10, 3), seed=3))
opt = keras.optimizers.Adam(0.03)


@tf.function
def paint():
    with tf.GradientTape() as tape:
        low_maps, high_maps = extractor(image)
        loss = tf.reduce_mean((gram(low_maps) - style) ** 2) + 0.1 * tf.reduce_mean((high_maps - content) ** 2)
        loss += 1e-3 * tf.reduce_sum(tf.image.total_variation(image))
    opt.apply_gradients([(tape.gradient(loss, image), image)])
    image.assign(tf.clip_by_value(image, 0.0, 1.0))
    return loss


losses = [float(paint()) for _ in range(12)]
assert losses[-1] < losses[0]
print(losses[0], losses[-1])
