# case: channel_shuffle_augmentation
# verdict: bug; static: no
# cause: non-differentiable-op | no-registered-gradient
# expect_line: 23
# expect_variables: stem/kernel, stem/bias
# symptom_today: UserWarning: Gradients do not exist for variables ['sequential/stem/kernel', 'sequential/stem/bias'] when minimizing the loss
# exit: 0
# fix: shuffle a range of indices and tf.gather with it
# source: keras-team/keras-cv#259 and HorizonRobotics/alf#334 (tf.random.shuffle has no gradient)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)


@keras.saving.register_keras_serializable("demo")
class ShuffleChannels(keras.layers.Layer):
    def call(self, images, training=False):
        if not training:
            return images
        first = tf.transpose(images, [3, 0, 1, 2])
        first = tf.random.shuffle(first, seed=5)
        return tf.transpose(first, [1, 2, 3, 0])


model = keras.Sequential([
    keras.layers.Input((8, 8, 3)),
    keras.layers.Conv2D(4, 3, activation="relu", name="stem"),
    ShuffleChannels(),
    keras.layers.Conv2D(4, 3, activation="relu", name="trunk"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(2, name="logits"),
])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))

rng = np.random.default_rng(0)
images = rng.uniform(size=(32, 8, 8, 3)).astype("float32")
labels = (images.mean((1, 2, 3)) > 0.5).astype("int32")
start = model.get_layer("stem").get_weights()[0].copy()
model.fit(images, labels, epochs=2, verbose=0)
print("stem changed:", not np.array_equal(start, model.get_layer("stem").get_weights()[0]))
