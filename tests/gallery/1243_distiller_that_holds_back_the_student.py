# case: distiller_that_holds_back_the_student
# verdict: bug; static: no
# cause: stop-gradient
# expect_line: 28
# expect_variables: student/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: put the stop_gradient on the teacher's logits
# source: tensorflow/tensorflow#42542 and keras-team/tf-keras#52 (fit ends with missing gradients)
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(4)


class Distiller(keras.Model):
    def __init__(self, teacher, student, temperature=3.0):
        super().__init__()
        self.teacher, self.student, self.temperature = teacher, student, temperature
        self.teacher.trainable = False

    def call(self, x, training=None):
        return self.student(x, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        wanted = ops.softmax(self.teacher(x, training=False) / self.temperature)
        given = ops.softmax(ops.stop_gradient(y_pred) / self.temperature)
        return ops.mean(keras.losses.kl_divergence(wanted, given)) * self.temperature ** 2


teacher = keras.Sequential([layers.Input((10,)), layers.Dense(32, activation="relu"), layers.Dense(4)], name="teacher")
student = keras.Sequential([layers.Input((10,)), layers.Dense(6, activation="relu"), layers.Dense(4)], name="student")
model = Distiller(teacher, student)
model.compile(optimizer=keras.optimizers.Adam(1e-3))
x = np.random.default_rng(0).normal(size=(32, 10)).astype("float32")
model.fit(x, np.zeros((32, 1), "float32"), batch_size=8, epochs=1, verbose=0)
