# case: rows_summed_before_they_are_written
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: an own optimizer reads, changes and overwrites the rows of a sparse gradient, each once or each with the sum of all
"""Matrix factorisation of play counts with a home-made momentum optimizer for the rows of the batch, which sums repetitions first."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

tf.random.set_seed(2)
LISTENERS, TRACKS, DIM = 300, 50, 6


class Factors(tf.Module):
    def __init__(self, seed):
        super().__init__(name="factors")
        init = tf.random.Generator.from_seed(seed)
        self.listener_vectors = tf.Variable(0.3 * init.normal([LISTENERS, DIM]), name="listener_vectors")
        self.track_vectors = tf.Variable(0.3 * init.normal([TRACKS, DIM]), name="track_vectors")
        self.track_offset = tf.Variable(tf.zeros([TRACKS, 1]), name="track_offset")

    def __call__(self, listener, track):
        u = tf.gather(self.listener_vectors, listener)
        v = tf.gather(self.track_vectors, track)
        return tf.reduce_sum(u * v, axis=1) + tf.gather(self.track_offset, track)[:, 0]


class RowMomentum(tf.Module):
    """SGD with momentum. Sparse gradients read, change and write the rows they have; dense ones go the usual way."""

    def __init__(self, lr, beta=0.5, for_each=False):
        super().__init__(name="row_momentum")
        self.lr, self.beta, self.for_each = lr, beta, for_each
        self.slots = {}

    def build(self, variables):
        for v in variables:
            self.slots[v.ref()] = tf.Variable(tf.zeros_like(v), trainable=False, name="velocity")

    def update(self, grads, variables):
        for g, v in zip(grads, variables):
            velocity = self.slots[v.ref()]
            if isinstance(g, tf.IndexedSlices):
                self._rows(v, velocity, g.values, g.indices)
            else:
                velocity.assign(self.beta * velocity + g)
                v.assign_sub(self.lr * velocity)

    def _rows(self, v, velocity, values, index):
        rows, places = tf.unique(index)
        values = tf.math.unsorted_segment_sum(values, places, tf.size(rows))
        if self.for_each:  # as often as they are used, always with the same values
            values = tf.gather(values, places)
        else:
            index = rows
        speed = self.beta * tf.gather(velocity, index) + values
        velocity.scatter_update(tf.IndexedSlices(speed, index))
        moved = tf.gather(v, index) - self.lr * speed
        v.scatter_update(tf.IndexedSlices(moved, index))


def plays(n, seed):
    """Tracks follow Zipf's law: a few are in every batch many times."""
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(0)
    taste, style = truth.normal(size=(LISTENERS, 3)), truth.normal(size=(TRACKS, 3))
    offset = truth.normal(size=TRACKS)
    weight = 1.0 / np.arange(1, TRACKS + 1)
    listener = rng.integers(0, LISTENERS, n).astype("int32")
    track = rng.choice(TRACKS, n, p=weight / weight.sum()).astype("int32")
    score = 0.4 * np.sum(taste[listener] * style[track], 1) + offset[track] + 0.1 * rng.normal(size=n)
    return listener, track, score.astype("float32")


def loss_of(model, batch):
    listener, track, score = batch
    return tf.reduce_mean(tf.square(model(listener, track) - score))


def train(dataset, epochs, for_each=False):
    model = Factors(seed=4)
    optimizer = RowMomentum(lr=1.0, for_each=for_each)
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(batch):
        with tf.GradientTape() as tape:
            loss = loss_of(model, batch)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.update(grads, model.trainable_variables)
        return loss

    means = []
    for epoch in range(epochs):
        means.append(float(np.mean([step(batch) for batch in dataset])))
        print(f"epoch {epoch}  mse {means[-1]:.3f}")
    return model, means


columns = plays(12800, seed=1)
dataset = tf.data.Dataset.from_tensor_slices(columns).batch(256)
_, each_once = train(dataset, epochs=4)
_, each_time = train(dataset, epochs=4, for_each=True)
assert each_once[-1] < 0.8 * each_once[0]
assert abs(each_once[-1] - each_time[-1]) < 1e-3
