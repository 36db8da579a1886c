# case: micro_counter
# verdict: bug
# cause: python-state-in-graph | never-updated
# expect_line: 61 60
# expect_variables: - (a Python counter)
# symptom_today: no warning; loss and accuracy do not move from epoch to epoch
# exit: 0
# fix: keep the counter in a tf.Variable and branch with tf.cond
# source: keras-team/keras#14483
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)
EVERY = 4


def soil_samples(n=512):
    rng = np.random.default_rng(5)
    chem = rng.normal(size=(n, 6)).astype("float32")
    acid = chem[:, 0] - 0.7 * chem[:, 2] + 0.5 * chem[:, 3] * chem[:, 4]
    return chem, np.digitize(acid, [-0.6, 0.6]).astype("int32")


class SoilClassifier(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(24, activation="relu", name="soil_hidden")
        self.score = keras.layers.Dense(3, name="soil_score")
        self.seen = keras.metrics.Mean(name="loss")
        self.hits = keras.metrics.SparseCategoricalAccuracy(name="accuracy")
        self.micro = 0
        self.sums = []

    def call(self, x):
        return self.score(self.hidden(x))

    @property
    def metrics(self):
        return [self.seen, self.hits]

    def allocate(self, sample):
        self(sample)
        self.sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.trainable_variables]
        self.optimizer.build(self.trainable_variables)

    def apply_window(self):
        averaged = [s / EVERY for s in self.sums]
        self.optimizer.apply_gradients(zip(averaged, self.trainable_variables))
        for s in self.sums:
            s.assign(tf.zeros_like(s))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x, y, logits)
        for s, g in zip(self.sums, tape.gradient(loss, self.trainable_variables)):
            s.assign_add(g)
        self.micro += 1
        if self.micro % EVERY == 0:
            self.apply_window()
        self.seen.update_state(loss)
        self.hits.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


chem, grade = soil_samples()
model = SoilClassifier()
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.allocate(chem[:1])
log = model.fit(chem, grade, batch_size=16, epochs=5, verbose=0)
print("loss", [round(v, 4) for v in log.history["loss"]])
print("accuracy", [round(a, 3) for a in log.history["accuracy"]])
print("updates made", int(model.optimizer.iterations.numpy()))
