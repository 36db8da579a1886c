# case: domain_adversarial
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a gradient reversal layer for domain adaptation and
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(24)


@tf.custom_gradient
def reverse(x, strength):
    def grad(dy):
        return -strength * dy, tf.zeros_like(strength)
    return tf.identity(x), grad


class DANN(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = layers.Dense(24, activation="relu")
        self.classifier = layers.Dense(2)
        self.domain = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(1)])
        self.strength = self.add_weight(shape=(), initializer="zeros", trainable=False, name="strength")
        self.task = keras.metrics.Mean(name="task")
        self.confusion = keras.metrics.Mean(name="confusion")

    @property
    def metrics(self):
        return [self.task, self.confusion]

    def call(self, x):
        h = self.features(x)
        return self.classifier(h), self.domain(reverse(h, tf.convert_to_tensor(self.strength)))

    def train_step(self, data):
        x, (y, is_target) = data
        with tf.GradientTape() as tape:
            logits, domain = self(x, training=True)
            source = 1.0 - is_target
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            task = tf.reduce_sum(ce * source) / tf.maximum(tf.reduce_sum(source), 1.0)
            confusion = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=is_target[:, None], logits=domain))
            loss = task + confusion
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.strength.assign(tf.minimum(self.strength + 0.02, 0.5))
        self.task.update_state(task)
        self.confusion.update_state(confusion)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.default_rng(9)
y = rng.integers(0, 2, 320).astype("int32")
is_target = (np.arange(320) % 2).astype("float32")
x = rng.normal(size=(320, 4)) * 0.5
x[:, 0] += 2.0 * y - 1.0
x[:, 1] += 1.5 * is_target
model = DANN()
model.compile(optimizer=keras.optimizers.Adam(5e-3))
history = model.fit(x.astype("float32"), (y, is_target), epochs=6, batch_size=32, verbose=0)
print("task", history.history["task"][0], history.history["task"][-1])
print("confusion", history.history["confusion"], "strength", float(model.strength))
