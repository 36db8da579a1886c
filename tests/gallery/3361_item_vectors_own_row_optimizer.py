# case: item_vectors_own_row_optimizer
# verdict: bug
# cause: duplicate-sparse-rows
# expect_line: 56 58
# expect_variables: *vectors*, *offset*
# symptom_today: popular items learn far too slowly; the loss falls, but to a much worse value than with a dense optimizer
# exit: 0
# fix: sum the rows of the gradient that have the same index (tf.unique and unsorted_segment_sum) before the rows are read, changed and written back
"""Matrix factorisation of play counts with a home-made momentum optimizer that only touches the rows of the batch."""
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

    def __init__(self, lr, beta=0.5):
        super().__init__(name="row_momentum")
        self.lr, self.beta = lr, beta
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


def train(dataset, epochs, dense=False, verbose=True):
    model = Factors(seed=4)
    optimizer = RowMomentum(lr=2.0)
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(batch):
        with tf.GradientTape() as tape:
            loss = loss_of(model, batch)
        grads = tape.gradient(loss, model.trainable_variables)
        if dense:
            grads = [tf.convert_to_tensor(g) for g in grads]
        optimizer.update(grads, model.trainable_variables)
        return loss

    means = []
    for epoch in range(epochs):
        means.append(float(np.mean([step(batch) for batch in dataset])))
        if verbose:
            print(f"epoch {epoch}  mse {means[-1]:.3f}")
    return model, means


columns = plays(12800, seed=1)
dataset = tf.data.Dataset.from_tensor_slices(columns).batch(256)
model, means = train(dataset, epochs=6)
popular = int(np.bincount(columns[1]).argmax())
_, reference = train(dataset, epochs=6, dense=True, verbose=False)
print(f"same data and rate, dense gradients: mse {reference[-1]:.3f}")
assert means[-1] > 1.3 * reference[-1]

# one batch from scratch: the most popular track moves by one of its many gradients only
batch = next(iter(dataset))
times = int(np.sum(batch[1].numpy() == popular))
one, _ = train(dataset.take(1), epochs=1, verbose=False)
many, _ = train(dataset.take(1), epochs=1, dense=True, verbose=False)
print(f"track {popular} is {times} times in the first batch; its offset moves "
      f"{float(one.track_offset[popular, 0]):.4f} and should move {float(many.track_offset[popular, 0]):.4f}")
assert times > 10
assert abs(float(one.track_offset[popular, 0])) < 0.3 * abs(float(many.track_offset[popular, 0]))
