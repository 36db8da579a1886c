# case: kd_on_logits
# verdict: bug
# cause: not-a-probability
# expect_line: 21 45 46 47 71
# expect_variables: -
# symptom_today: the KL falls below zero, which no divergence can, and the student follows the teacher badly
# exit: 0
# fix: self.kl(tf.nn.softmax(soft_t), tf.nn.softmax(soft_s)): KLDivergence wants probabilities
import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(14)
CLASSES = 5


def mlp(hidden, name):
    return keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(hidden, activation="tanh"),
        keras.layers.Dense(CLASSES),
    ], name=name)


class Distiller(keras.Model):
    def __init__(self, teacher, student, temperature=3.0):
        super().__init__()
        self.teacher = teacher
        self.student = student
        self.temperature = temperature

    def compile(self, optimizer, kl):
        super().compile(optimizer=optimizer)
        self.kl = kl
        self.loss_mean = keras.metrics.Mean(name="kd")

    @property
    def metrics(self):
        return [self.loss_mean]

    def train_step(self, x):
        t_logits = self.teacher(x, training=False)
        with tf.GradientTape() as tape:
            s_logits = self.student(x, training=True)
            soft_t = t_logits / self.temperature
            soft_s = s_logits / self.temperature
            loss = self.kl(soft_t, soft_s) * self.temperature ** 2
        params = self.student.trainable_variables
        grads = tape.gradient(loss, params)
        self.optimizer.apply_gradients(zip(grads, params))
        self.loss_mean.update_state(loss)
        return {"kd": self.loss_mean.result()}


rng = np.random.default_rng(3)
centres = rng.normal(size=(CLASSES, 8)) * 1.2
lab = rng.integers(0, CLASSES, size=600)
x = (centres[lab] + rng.normal(size=(600, 8))).astype("float32")

teacher = mlp(64, "teacher")
teacher.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
h = teacher.fit(x, lab, batch_size=60, epochs=6, verbose=0)
print("teacher accuracy", h.history["accuracy"][-1])

student = mlp(12, "student")
distiller = Distiller(teacher, student)
distiller.compile(keras.optimizers.Adam(0.01), keras.losses.KLDivergence())
for rnd in range(4):
    hist = distiller.fit(x, batch_size=60, epochs=4, verbose=0)
    same = np.mean(np.argmax(student(x), 1) == np.argmax(teacher(x), 1))
    print("round", rnd, "kd %.4f" % hist.history["kd"][-1], "agreement %.3f" % same)
