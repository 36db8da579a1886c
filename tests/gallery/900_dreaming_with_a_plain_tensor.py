# case: dreaming_with_a_plain_tensor
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: activation maximisation where the image is a watched tensor replaced in each step
import keras
import tensorflow as tf

keras.utils.set_random_seed(8)
base = keras.Sequential([keras.layers.Input((None, None, 3)), keras.layers.Conv2D(8, 3, activation="elu"),
                         keras.layers.Conv2D(8, 3, activation="elu")])
base.trainable = False


class Dreamer(tf.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    @tf.function
    def __call__(self, image, steps, rate):
        loss = tf.constant(0.0)
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch(image)
                loss = tf.reduce_mean(self.model(image[None])[..., 2])
            gradient = tape.gradient(loss, image)
            gradient /= tf.math.reduce_std(gradient) + 1e-8
            image = image + rate * gradient
            image = tf.clip_by_value(image, -1.0, 1.0)
        return loss, image


dream = Dreamer(base)
picture = tf.random.uniform((12, 12, 3), -0.5, 0.5, seed=1)
history = []
for octave in range(3):
    size = tf.cast(tf.cast(tf.shape(picture)[:2], tf.float32) * 1.3, tf.int32)
    picture = tf.image.resize(picture, size)
    loss, picture = dream(picture, tf.constant(5), tf.constant(0.02))
    history.append(float(loss))
print(history)
assert history[-1] > history[0]
