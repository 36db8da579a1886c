# case: mean_teacher_shared
# verdict: bug
# cause: aliased-network
# expect_line: 30 53
# expect_variables: -
# symptom_today: no error; teacher and student are always exactly equal (distance 0.0), the teacher is no average of past students
# exit: 0
# fix: self.teacher = keras.models.clone_model(student); self.teacher.set_weights(student.get_weights())
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)


def make_student():
    inp = keras.Input((2,), name="point")
    h = layers.Dense(32, activation="tanh", name="features")(inp)
    h = layers.Dense(16, activation="tanh", name="mix")(h)
    return keras.Model(inp, layers.Dense(1, name="logit")(h), name="student")


class MeanTeacher(keras.Model):
    """Some labelled points, many without a label; the teacher is a slow average of the student."""

    def __init__(self, student, decay=0.95, weight=0.5):
        super().__init__()
        self.student = student
        self.teacher = keras.Model(student.input, student.output, name="teacher")
        self.decay = decay
        self.weight = weight
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        (x, x_unlabelled), y = data
        goal = tf.sigmoid(self.teacher(x_unlabelled, training=False))
        noisy = x_unlabelled + tf.random.normal(tf.shape(x_unlabelled), stddev=0.1)
        with tf.GradientTape() as tape:
            supervised = self.bce(y, self.student(x, training=True))
            guess = tf.sigmoid(self.student(noisy, training=True))
            consistency = tf.reduce_mean(tf.square(goal - guess))
            loss = supervised + self.weight * consistency
        variables = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

        # teacher = decay * teacher + (1 - decay) * student
        distance = 0.0
        for t, s in zip(self.teacher.trainable_variables, variables):
            t.assign(self.decay * t + (1.0 - self.decay) * s)
            distance += tf.reduce_sum(tf.abs(t - s))
        return {"supervised": supervised, "consistency": consistency, "distance": distance}


def two_rings(n, rng):
    label = rng.integers(0, 2, n)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 0.6 + 0.8 * label + rng.normal(0, 0.08, n)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype("float32"), label.astype("float32")[:, None]


rng = np.random.default_rng(1)
x, y = two_rings(256, rng)
x_free, _ = two_rings(256, rng)
data = tf.data.Dataset.from_tensor_slices(((x, x_free), y)).shuffle(256, seed=2).batch(32)

trainer = MeanTeacher(make_student())
trainer.compile(optimizer=keras.optimizers.Adam(0.02))
trainer.fit(data, epochs=10, verbose=2)

x_test, y_test = two_rings(400, rng)
for net in (trainer.student, trainer.teacher):
    hit = (net(x_test).numpy() > 0) == (y_test > 0.5)
    print(net.name, "accuracy", hit.mean())
