# case: mean_teacher
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: the averaged teacher gets no gradients, its updates happen between the steps
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(4)


def classifier(name):
    return keras.Sequential([keras.Input((2,)), layers.Dense(24, activation="relu"), layers.Dense(2)], name=name)


class MeanTeacher(keras.Model):
    def __init__(self, decay=0.95):
        super().__init__()
        self.student = classifier("student")
        self.teacher = classifier("teacher")
        self.teacher.set_weights(self.student.get_weights())
        self.teacher.trainable = False
        self.decay = decay
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        return self.teacher(x)

    def train_step(self, data):
        x, y = data
        labelled = tf.cast(y >= 0, tf.float32)
        noisy = x + tf.random.normal(tf.shape(x), stddev=0.1, seed=7)
        goal = tf.nn.softmax(self.teacher(x))
        with tf.GradientTape() as tape:
            logits = self.student(noisy)
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.maximum(y, 0), logits=logits)
            supervised = tf.reduce_sum(ce * labelled) / tf.maximum(tf.reduce_sum(labelled), 1.0)
            consistency = tf.reduce_mean(tf.square(tf.nn.softmax(logits) - tf.stop_gradient(goal)))
            loss = supervised + consistency
        grads = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.student.trainable_variables))
        for slow, fast in zip(self.teacher.variables, self.student.variables):
            slow.assign(self.decay * slow + (1.0 - self.decay) * fast)
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


rng = np.random.default_rng(2)
angle = rng.uniform(0, np.pi, 300)
side = rng.integers(0, 2, 300)
x = np.stack([np.cos(angle) * (1 - 2 * side) + side, np.sin(angle) * (1 - 2 * side) + 0.3 * side], 1).astype("float32")
y = np.where(rng.uniform(size=300) < 0.3, side, -1).astype("int32")

model = MeanTeacher()
model.compile(optimizer=keras.optimizers.Adam(1e-2))
history = model.fit(x, y, epochs=8, batch_size=30, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1])
print("teacher accuracy", np.mean(np.argmax(model.predict(x, verbose=0), 1) == side))
