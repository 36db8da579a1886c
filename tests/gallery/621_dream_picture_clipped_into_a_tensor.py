# case: dream_picture_clipped_into_a_tensor
# verdict: bug; static: yes
# cause: variable-rebound | unwatched-source
# expect_line: 29
# expect_variables: picture
# symptom_today: the second step raises AttributeError: the gradient is None and a tensor has no assign_add
# exit: 1 (AttributeError)
# fix: picture.assign(tf.clip_by_value(picture, 0.0, 1.0))
# seen: feature visualisation and style transfer loops
import keras
import tensorflow as tf

keras.utils.set_random_seed(8)
net = keras.Sequential([keras.layers.Input((12, 12, 3)), keras.layers.Conv2D(8, 3, activation="relu"),
                        keras.layers.Conv2D(8, 3, activation="relu")])
net.trainable = False
picture = tf.Variable(tf.random.uniform((1, 12, 12, 3), seed=2), name="picture")


def activation(image, channel):
    return tf.reduce_mean(net(image)[..., channel])


for step in range(3):
    with tf.GradientTape() as tape:
        value = activation(picture, channel=3)
    gradient = tape.gradient(value, picture)
    picture.assign_add(0.1 * gradient)
    picture = tf.clip_by_value(picture, 0.0, 1.0)
    print(step, float(value))
