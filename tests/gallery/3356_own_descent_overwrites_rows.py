# case: own_descent_overwrites_rows
# verdict: bug
# cause: duplicate-sparse-rows
# expect_line: 41  40
# expect_variables: user_factors, item_factors
# symptom_today: the loss falls, only too slowly and to a worse place; popular items learn from one of their ratings per batch
# exit: 0
# fix: var.scatter_sub(tf.IndexedSlices(lr * g.values, g.indices)), which adds up repeated rows
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from collections import namedtuple
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
Ratings = namedtuple("Ratings", "user item value")
HP = {"rank": 6, "lr": 8.0, "l2": 1e-3, "batch": 128, "epochs": 2}


def make_ratings(n_users=150, n_items=60, n=3840, rank=3, seed=9):
    rng = np.random.default_rng(seed)
    p = rng.normal(size=(n_users, rank)) / np.sqrt(rank)
    q = rng.normal(size=(n_items, rank))
    popularity = 1.0 / np.arange(1, n_items + 1)
    user = rng.integers(0, n_users, n)
    item = rng.choice(n_items, n, p=popularity / popularity.sum())
    value = (p[user] * q[item]).sum(1) + 0.05 * rng.normal(size=n)
    return Ratings(user.astype("int32"), item.astype("int32"), value.astype("float32")), n_users, n_items


class RowSGD:
    """Gradient descent that touches the rows of the batch only."""

    def __init__(self, lr):
        self.lr = lr

    def apply(self, grads_and_vars):
        for g, var in grads_and_vars:
            if isinstance(g, tf.IndexedSlices):
                rows = tf.gather(var, g.indices)
                var.scatter_nd_update(g.indices[:, None], rows - self.lr * g.values)
            else:
                var.assign_sub(self.lr * g)


class Factorisation(tf.Module):
    def __init__(self, n_users, n_items, rank):
        super().__init__(name="mf")
        init = tf.random_normal_initializer(stddev=0.3, seed=1)
        self.user_factors = tf.Variable(init((n_users, rank)), name="user_factors")
        self.item_factors = tf.Variable(init((n_items, rank)), name="item_factors")
        self.offset = tf.Variable(0.5, name="offset")

    def rows(self, user, item):
        return tf.gather(self.user_factors, user), tf.gather(self.item_factors, item)

    def __call__(self, user, item):
        p, q = self.rows(user, item)
        return tf.reduce_sum(p * q, axis=1) + self.offset

    def loss(self, user, item, value, l2):
        p, q = self.rows(user, item)
        error = tf.reduce_sum(p * q, axis=1) + self.offset - value
        penalty = tf.reduce_mean(tf.reduce_sum(p ** 2 + q ** 2, axis=1))
        return tf.reduce_mean(error ** 2) + l2 * penalty


def train(model, ratings, hp):
    sgd = {"rows": RowSGD(hp["lr"]), "dense": RowSGD(0.1)}
    factors = [model.user_factors, model.item_factors]

    @tf.function
    def step(user, item, value):
        with tf.GradientTape() as tape:
            loss = model.loss(user, item, value, hp["l2"])
        *g_factors, g_offset = tape.gradient(loss, factors + [model.offset])
        sgd["rows"].apply(zip(g_factors, factors))
        sgd["dense"].apply([(g_offset, model.offset)])
        return loss

    ds = tf.data.Dataset.from_tensor_slices(tuple(ratings)).shuffle(4000, seed=3).batch(hp["batch"])
    return [float(step(*batch)) for _ in range(hp["epochs"]) for batch in ds]


ratings, n_users, n_items = make_ratings()
model = Factorisation(n_users, n_items, HP["rank"])
curve = train(model, ratings, HP)
print("loss %.3f -> %.3f" % (np.mean(curve[:5]), np.mean(curve[-5:])))
assert np.mean(curve[-5:]) < np.mean(curve[:5])

batch = [tf.constant(c[:HP["batch"]]) for c in ratings]
with tf.GradientTape() as tape:
    loss = model.loss(*batch, HP["l2"])
slices = tape.gradient(loss, model.item_factors)
expected = model.item_factors.numpy() - HP["lr"] * tf.convert_to_tensor(slices).numpy()
RowSGD(HP["lr"]).apply([(slices, model.item_factors)])
off = np.abs(model.item_factors.numpy() - expected).max(axis=1)
counts = np.bincount(batch[1].numpy(), minlength=n_items)
print("rows that went elsewhere:", int((off > 1e-4).sum()), "of", int((counts > 0).sum()))
assert (off[counts > 1] > 1e-4).mean() > 0.9 and (off[counts <= 1] < 1e-5).all()
