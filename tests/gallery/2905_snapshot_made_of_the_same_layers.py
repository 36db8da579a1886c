# case: snapshot_made_of_the_same_layers
# verdict: bug
# cause: aliased-network
# expect_line: 88
# expect_variables: -
# symptom_today: the distillation term is printed as zero from the first step to the last, and the old classes are forgotten as if it were not there
# exit: 0
# fix: `snapshot = keras.models.clone_model(net)` and `snapshot.set_weights(net.get_weights())`
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

OLD, NEW, FEATURES = 4, 2, 10


def measurements(rng, n, centres, first_label):
    k = rng.integers(0, len(centres), n)
    x = centres[k] + rng.normal(0, 0.6, (n, FEATURES))
    return x.astype("float32"), (k + first_label).astype("int32")


def classifier():
    inp = keras.Input((FEATURES,))
    h = layers.Dense(32, activation="relu", name="hidden_one")(inp)
    h = layers.Dense(32, activation="relu", name="hidden_two")(h)
    return keras.Model(inp, layers.Dense(OLD + NEW, name="species")(h), name="species_net")


class ContinualTrainer:
    """Learn the new classes, hold on to the answers of the earlier network for the old ones."""

    def __init__(self, net, earlier, lr, temperature=2.0, strength=4.0):
        self.net = net
        self.earlier = earlier
        self.optimizer = keras.optimizers.SGD(lr, momentum=0.9)
        self.temperature = temperature
        self.strength = strength

    def distillation(self, x, logits):
        soft = tf.nn.softmax(self.earlier(x, training=False)[:, :OLD] / self.temperature)
        soft = tf.stop_gradient(soft)
        mine = tf.nn.log_softmax(logits[:, :OLD] / self.temperature)
        gap = soft * (tf.math.log(soft + 1e-8) - mine)
        return tf.reduce_mean(tf.reduce_sum(gap, axis=-1))

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            task = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            task = tf.reduce_mean(task)
            keep = self.distillation(x, logits)
            loss = task + self.strength * keep
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return task, keep

    def run(self, x, y, epochs, batch=32):
        log = []
        data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=0).batch(batch, drop_remainder=True)
        for _ in range(epochs):
            log += [[float(v) for v in self.step(xb, yb)] for xb, yb in data]
        return np.array(log)


def accuracy(net, x, y, task):
    logits = net(x).numpy()[:, task]
    return float(np.mean(np.argmax(logits, axis=1) + task.start == y))


keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
centres = rng.normal(0, 1.2, (OLD + NEW, FEATURES))
x_old, y_old = measurements(rng, 320, centres[:OLD], 0)
x_new, y_new = measurements(rng, 160, centres[OLD:], OLD)

net = classifier()
net.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    jit_compile=False,
)
net.fit(x_old, y_old, batch_size=32, epochs=6, verbose=0)
old_task, new_task = slice(0, OLD), slice(OLD, OLD + NEW)
before = accuracy(net, x_old, y_old, old_task)

snapshot = keras.Model(net.input, net.output, name="snapshot")
answers = snapshot(x_old).numpy()
trainer = ContinualTrainer(net, snapshot, lr=0.05)
log = trainer.run(x_new, y_new, epochs=12)

after_old, after_new = accuracy(net, x_old, y_old, old_task), accuracy(net, x_new, y_new, new_task)
print("old classes %.2f -> %.2f, new classes %.2f" % (before, after_old, after_new))
print("distillation, first and last step", log[0, 1], log[-1, 1])
assert before > 0.95 and after_new > 0.95 and after_old < 0.6
assert np.abs(log[:, 1]).max() < 1e-5
assert np.abs(snapshot(x_old).numpy() - answers).max() > 1.0
