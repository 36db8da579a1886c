# case: bottleneck_classifier_with_recall
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: an information bottleneck in fit: regularisers, a KL by add_loss, and a metric that takes the argmax
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(62)
CLASSES = 3


class Bottleneck(layers.Layer):
    def __init__(self, units, beta=1e-2, **kw):
        super().__init__(**kw)
        self.beta = beta
        self.mean = layers.Dense(units, name="mean")
        self.log_var = layers.Dense(units, bias_initializer=keras.initializers.Constant(-2.0), name="log_var")
        self.noise = keras.random.SeedGenerator(62)

    def build(self, shape):
        self.mean.build(shape), self.log_var.build(shape)

    def call(self, h, training=False):
        mean, log_var = self.mean(h), self.log_var(h)
        kl = 0.5 * tf.reduce_sum(tf.square(mean) + tf.exp(log_var) - log_var - 1.0, axis=-1)
        self.add_loss(self.beta * tf.reduce_mean(kl))
        if not training:
            return mean
        return mean + tf.exp(0.5 * log_var) * keras.random.normal(tf.shape(mean), seed=self.noise)

    def compute_output_shape(self, shape):
        return (shape[0], self.mean.units)


def worst_recall(y_true, y_pred):
    guess = tf.argmax(y_pred, axis=-1, output_type=tf.int32)
    truth = tf.cast(tf.reshape(y_true, (-1,)), tf.int32)
    hits = tf.math.unsorted_segment_mean(tf.cast(guess == truth, tf.float32), truth, CLASSES)
    return tf.reduce_min(hits)


inputs = keras.Input((8,))
h = layers.Dense(24, activation="gelu", kernel_regularizer=keras.regularizers.L2(1e-4))(inputs)
z = Bottleneck(5, name="bottleneck")(h)
scores = layers.Dense(CLASSES, kernel_regularizer=keras.regularizers.L1(1e-4), name="scores")(z)
model = keras.Model(inputs, scores)
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy", worst_recall],
)
rng = np.random.default_rng(62)
labels = rng.integers(0, CLASSES, size=210)
x = (1.5 * rng.normal(size=(CLASSES, 8))[labels] + rng.normal(size=(210, 8))).astype("float32")
history = model.fit(x, labels, validation_split=0.2, epochs=5, batch_size=42, verbose=0).history
print({name: [round(float(v), 3) for v in values] for name, values in history.items()})
assert history["loss"][-1] < history["loss"][0]
