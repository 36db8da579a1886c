# case: moving_average_of_an_unbuilt_model
# verdict: bug; static: no
# cause: unbuilt-model
# expect_line: 17 25
# expect_variables: - (none were there yet: all of the student)
# symptom_today: silent: there is nothing to average, the shadow list is empty
# exit: 0
# fix: student.build(...) or call it before the shadow copies are made
# seen: mean teachers and EMA helpers created in __init__
import keras
import tensorflow as tf


class MeanTeacher:
    def __init__(self, student, decay=0.9):
        self.student, self.decay = student, decay
        self.shadow = [tf.Variable(v, trainable=False) for v in student.trainable_variables]

    def update(self):
        for s, v in zip(self.shadow, self.student.trainable_variables):
            s.assign(self.decay * s + (1.0 - self.decay) * v)


student = keras.Sequential([keras.layers.LayerNormalization(), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(2)])
teacher = MeanTeacher(student)
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((20, 3), seed=4)
labels = tf.cast(x[:, 0] > 0, tf.int32)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, student(x)))
    opt.apply_gradients(zip(tape.gradient(loss, student.trainable_variables), student.trainable_variables))
    teacher.update()
print(len(teacher.shadow))
assert teacher.shadow == []
