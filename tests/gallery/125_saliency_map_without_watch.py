# case: saliency_map_without_watch
# verdict: bug; static: yes
# cause: unwatched-source
# expect_line: 26 27
# expect_variables: picture
# symptom_today: ValueError: the gradient of the picture is None
# exit: 1 (ValueError)
# fix: tape.watch(picture) before the model is called
# seen: saliency map tutorials wrapped in tf.function
import keras
import tensorflow as tf

net = keras.Sequential(
    [
        keras.layers.Input((10, 10, 1)),
        keras.layers.Conv2D(3, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(4),
    ]
)


@tf.function
def saliency(picture, class_index):
    with tf.GradientTape() as tape:
        score = net(picture)[:, class_index]
    slope = tape.gradient(score, picture)
    return tf.reduce_max(tf.abs(slope), axis=-1)


picture = tf.random.uniform((2, 10, 10, 1), seed=4)
heat = saliency(picture, class_index=2)
print(heat.shape)
