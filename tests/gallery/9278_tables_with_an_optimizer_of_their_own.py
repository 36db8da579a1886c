# case: tables_with_an_optimizer_of_their_own
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; in-batch softmax with a popularity correction, one optimizer for the tables and another for the dense layers
# exit: 0
# fix: none
import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_USERS, N_ITEMS, GROUPS, DIM = 64, 48, 6, 8
CONFIG = {"batch": 48, "steps": 120, "table_lr": 0.5, "tower_lr": 4e-3, "temperature": 0.2}


class Tower(keras.Model):
    def __init__(self, vocabulary, name):
        super().__init__(name=name)
        self.table = layers.Embedding(vocabulary, DIM, name=f"{name}_table")
        self.hidden = layers.Dense(16, activation="tanh", name=f"{name}_hidden")
        self.project = layers.Dense(DIM, name=f"{name}_project")

    def call(self, ids):
        h = self.table(ids)
        h = self.project(self.hidden(h)) + h
        return tf.math.l2_normalize(h, axis=-1, epsilon=1e-6)


class InBatchSoftmax:
    """Every other item of the batch serves as a negative."""

    def __init__(self, temperature, item_frequency):
        self.temperature = temperature
        self.log_q = tf.constant(np.log(item_frequency), tf.float32)

    def __call__(self, users, items, item_ids):
        logits = tf.matmul(users, items, transpose_b=True) / self.temperature
        correction = tf.stop_gradient(tf.gather(self.log_q, item_ids))
        logits = logits - correction[tf.newaxis, :]
        same = tf.equal(item_ids[:, None], item_ids[None, :])
        diagonal = tf.eye(tf.shape(item_ids)[0], dtype=tf.bool)
        logits = tf.where(same & ~diagonal, -1e4, logits)
        wanted = tf.range(tf.shape(item_ids)[0])
        per_row = tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, logits)
        return tf.reduce_mean(per_row)


def clicks(rng, n):
    users = rng.integers(0, N_USERS, n)
    popularity = 1.0 / (1.0 + np.arange(N_ITEMS) // GROUPS)
    items = np.empty(n, int)
    for i, u in enumerate(users):
        mine = np.arange(N_ITEMS) % GROUPS == u % GROUPS
        p = popularity * np.where(mine, 1.0, 0.02)
        items[i] = rng.choice(N_ITEMS, p=p / p.sum())
    return users.astype("int32"), items.astype("int32")


tf.random.set_seed(3)
keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
users, items = clicks(rng, 1536)
frequency = (np.bincount(items, minlength=N_ITEMS) + 1.0) / (len(items) + N_ITEMS)

user_tower, item_tower = Tower(N_USERS, "user"), Tower(N_ITEMS, "item")
user_tower(users[:2]), item_tower(items[:2])
tables = [user_tower.table.embeddings, item_tower.table.embeddings]
dense = [v for t in (user_tower, item_tower) for v in t.hidden.trainable_variables + t.project.trainable_variables]
table_opt = keras.optimizers.Adagrad(CONFIG["table_lr"])
tower_opt = keras.optimizers.Adam(CONFIG["tower_lr"])
criterion = InBatchSoftmax(CONFIG["temperature"], frequency)


@tf.function
def train(u, i):
    with tf.GradientTape() as tape:
        loss = criterion(user_tower(u), item_tower(i), i)
    grads = tape.gradient(loss, tables + dense)
    table_opt.apply_gradients(zip(grads[:2], tables))
    tower_opt.apply_gradients(zip(grads[2:], dense))
    return loss


start = [v.numpy().copy() for v in tables + dense]
feed = tf.data.Dataset.from_tensor_slices((users, items)).shuffle(1536, seed=4).repeat()
feed = feed.batch(CONFIG["batch"], drop_remainder=True).take(CONFIG["steps"])
losses = [float(train(u, i)) for u, i in feed]

scores = user_tower(np.arange(N_USERS)).numpy() @ item_tower(np.arange(N_ITEMS)).numpy().T
best = scores.argsort(1)[:, -4:]
precision = np.mean(best % GROUPS == (np.arange(N_USERS) % GROUPS)[:, None])
print("loss %.3f -> %.3f, precision at four %.2f" % (np.mean(losses[:5]), np.mean(losses[-5:]), precision))
assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])
assert precision > 0.7
assert all(np.abs(v.numpy() - s).max() > 1e-4 for v, s in zip(tables + dense, start))
