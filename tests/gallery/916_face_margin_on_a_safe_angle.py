# case: face_margin_on_a_safe_angle
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: margin-based metric learning with arc cosines
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)


class ArcMargin(keras.layers.Layer):
    def __init__(self, classes, margin=0.3, scale=8.0):
        super().__init__()
        self.classes, self.margin, self.scale = classes, margin, scale

    def build(self, shapes):
        width = shapes[0][-1]
        self.centres = self.add_weight(shape=(width, self.classes), initializer="glorot_uniform", name="centres")

    def call(self, inputs):
        vectors, labels = inputs
        cosine = tf.matmul(tf.math.l2_normalize(vectors, axis=1), tf.math.l2_normalize(self.centres, axis=0))
        angle = tf.acos(tf.clip_by_value(cosine, -1.0 + 1e-6, 1.0 - 1e-6))
        chosen = tf.one_hot(tf.cast(labels, tf.int32), self.classes)
        return self.scale * tf.cos(angle + self.margin * chosen)


faces = keras.Input((10,))
person = keras.Input((), dtype="int32")
vectors = keras.layers.Dense(4)(keras.layers.Dense(16, activation="relu")(faces))
model = keras.Model([faces, person], ArcMargin(5)([vectors, person]))
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
rng = np.random.default_rng(5)
who = rng.integers(0, 5, 100).astype("int32")
x = (rng.normal(size=(5, 10))[who] + 0.3 * rng.normal(size=(100, 10))).astype("float32")
losses = model.fit([x, who], who, epochs=5, verbose=0).history["loss"]
assert losses[-1] < losses[0]
