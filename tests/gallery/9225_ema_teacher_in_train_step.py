# case: ema_teacher_in_train_step
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the teacher follows by assign after every update and gets no gradient on purpose
# exit: 0
# fix: -
# source: own; mean-teacher, look-alike of keras-team/keras#3696
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def make(name):
    return keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)], name=name)


class MeanTeacher(keras.Model):
    def __init__(self, decay=0.95):
        super().__init__()
        self.student, self.teacher, self.decay = make("student"), make("teacher"), decay
        self.teacher.set_weights(self.student.get_weights())
        self.teacher.trainable = False

    def call(self, x):
        return self.teacher(x)

    def train_step(self, data):
        x, y = data
        noisy = x + tf.random.normal(tf.shape(x), stddev=0.1)
        with tf.GradientTape() as tape:
            logits = self.student(noisy, training=True)
            hard = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
            soft = tf.reduce_mean(tf.square(logits - tf.stop_gradient(self.teacher(x))))
            loss = hard + 0.1 * soft
        params = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, params), params))
        for slow, fast in zip(self.teacher.weights, self.student.weights):
            slow.assign(self.decay * slow + (1.0 - self.decay) * fast)
        return {"student_loss": loss}


rng = np.random.default_rng(0)
x = rng.normal(size=(96, 6)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
model = MeanTeacher()
model.compile(keras.optimizers.Adam(1e-2))
first = model.teacher.get_weights()[0].copy()
log = model.fit(x, y, batch_size=16, epochs=8, verbose=0).history["student_loss"]
assert log[-1] < log[0] and (first != model.teacher.get_weights()[0]).any()
print("ok", log[0], log[-1])
