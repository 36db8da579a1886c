# case: distillation_from_a_frozen_teacher
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: teacher-student training
import keras
import tensorflow as tf


def classifier(width):
    return keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(3)])


class Distiller(keras.Model):
    def __init__(self, teacher, student, temperature=3.0):
        super().__init__()
        self.teacher, self.student, self.temperature = teacher, student, temperature
        self.teacher.trainable = False

    def call(self, x, training=None):
        return self.student(x, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        soft = tf.nn.softmax(self.teacher(x, training=False) / self.temperature)
        hard = keras.losses.sparse_categorical_crossentropy(y, y_pred, from_logits=True)
        kl = keras.losses.kl_divergence(soft, tf.nn.softmax(y_pred / self.temperature))
        return tf.reduce_mean(hard) + self.temperature**2 * tf.reduce_mean(kl)


keras.utils.set_random_seed(1)
x = tf.random.normal((96, 6), seed=1)
y = tf.argmax(x[:, :3], -1)
model = Distiller(classifier(32), classifier(4))
model.compile(keras.optimizers.Adam(0.01))
log = model.fit(x, y, epochs=4, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0]
