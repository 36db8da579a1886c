# case: gradient_of_normalised_copy
# verdict: bug; static: no
# cause: wrong-source-object
# expect_line: 29 30
# expect_variables: ready (the batch dimension was added outside)
# symptom_today: TypeError: the gradient is None
# exit: 1 (TypeError)
# fix: watch the tensor that enters the model, and ask for that one
# seen: DeepDream and Grad-CAM scripts that preprocess twice
import keras
import tensorflow as tf

net = keras.Sequential([keras.layers.Input((6, 6, 3)), keras.layers.Conv2D(4, 3), keras.layers.GlobalMaxPooling2D()])
photo = tf.random.uniform((6, 6, 3), 0.0, 255.0, seed=1)


def prepare(image):
    return tf.expand_dims(image / 127.5 - 1.0, axis=0)


class Dream:
    def __init__(self, net, octave_scale=1.3):
        self.net, self.octave_scale = net, octave_scale

    def ascend(self, image, rate=0.01):
        ready = prepare(image)
        with tf.GradientTape() as tape:
            tape.watch(ready)
            excitement = tf.reduce_mean(self.net(prepare(image))[:, 0])
        direction = tape.gradient(excitement, ready)
        return image + rate * direction / (tf.math.reduce_std(direction) + 1e-8)


Dream(net).ascend(photo)
