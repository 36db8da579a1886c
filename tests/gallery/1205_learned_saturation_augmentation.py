# case: learned_saturation_augmentation
# verdict: bug; static: no
# cause: no-registered-gradient
# expect_line: 24
# expect_variables: colour/boost
# symptom_today: raises LookupError: gradient registry has no entry for: AdjustSaturation
# exit: 1 (LookupError)
# fix: write the saturation as grey + factor * (image - grey) with plain arithmetic
# source: tensorflow/tensorflow#126083 (adjust_saturation cannot be differentiated)
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class LearnedColour(keras.layers.Layer):
    """Learns how strongly the colours of the training pictures should be boosted."""

    def build(self, shape):
        self.boost = self.add_weight(shape=(), initializer="ones", name="boost")

    def call(self, pictures):
        factor = tf.convert_to_tensor(self.boost)
        return tf.image.adjust_saturation(pictures, factor)


colour = LearnedColour(name="colour")
classifier = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(3)])
opt = keras.optimizers.Adam(1e-2)
pictures = tf.random.uniform((8, 4, 4, 3), seed=3)
labels = tf.constant([0, 1, 2, 0, 1, 2, 0, 1])

for step in range(3):
    with tf.GradientTape() as tape:
        logits = classifier(colour(pictures))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    weights = colour.trainable_variables + classifier.trainable_variables
    grads = tape.gradient(loss, weights)
    opt.apply_gradients(zip(grads, weights))
    print(step, float(loss), float(colour.boost))
