# case: search_lambdarank
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; ranks by argsort only weigh the pairs, the gradient runs through the pairwise logistic loss
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(66)

CFG = {"docs": 12, "query_dim": 4, "doc_dim": 5, "batch": 32, "epochs": 6, "lr": 5e-3, "grades": 4}


def search_sessions(n, seed):
    """Queries with a list of documents each, graded 0..3; some documents are padding (grade -1)."""
    rng = np.random.default_rng(seed)
    query = rng.normal(size=(n, CFG["query_dim"])).astype("float32")
    doc = rng.normal(size=(n, CFG["docs"], CFG["doc_dim"])).astype("float32")
    w = np.random.default_rng(12).normal(size=(CFG["query_dim"], CFG["doc_dim"]))
    relevance = np.einsum("nq,qd,nkd->nk", query, w, doc) + 0.3 * rng.normal(size=(n, CFG["docs"]))
    edges = np.quantile(relevance, [0.5, 0.75, 0.9])
    grade = np.digitize(relevance, edges).astype("float32")
    length = rng.integers(6, CFG["docs"] + 1, n)
    grade[np.arange(CFG["docs"])[None] >= length[:, None]] = -1.0
    return {"query": query, "docs": doc}, grade


def current_ranks(scores):
    """1 for the best document, 2 for the next ..."""
    order = tf.argsort(scores, axis=-1, direction="DESCENDING")
    return tf.cast(tf.argsort(order, axis=-1), tf.float32) + 1.0


def gain(grade):
    return tf.pow(2.0, grade) - 1.0


def discount(rank):
    return 1.0 / (tf.math.log(1.0 + rank) / tf.math.log(2.0))


class LambdaLoss(keras.losses.Loss):
    """Pairwise logistic loss, each pair weighted by what swapping it would change in NDCG."""

    def call(self, grade, scores):
        real = grade >= 0.0
        grade = tf.where(real, grade, 0.0)
        rank = current_ranks(tf.where(real, scores, -1e6))
        ideal = tf.sort(gain(grade), axis=-1, direction="DESCENDING")
        best = tf.reduce_sum(ideal * discount(tf.range(1.0, CFG["docs"] + 1.0)), axis=-1)
        swap_gain = tf.abs(gain(grade)[:, :, None] - gain(grade)[:, None, :])
        swap_rank = tf.abs(discount(rank)[:, :, None] - discount(rank)[:, None, :])
        delta = tf.math.divide_no_nan(swap_gain * swap_rank, best[:, None, None])
        better = tf.cast(grade[:, :, None] > grade[:, None, :], tf.float32)
        both = tf.cast(real[:, :, None] & real[:, None, :], tf.float32)
        pair = tf.nn.softplus(-(scores[:, :, None] - scores[:, None, :]))
        return tf.reduce_sum(tf.stop_gradient(delta) * better * both * pair, axis=[1, 2])


class MeanNDCG(keras.metrics.Mean):
    def update_state(self, grade, scores, sample_weight=None):
        real = grade >= 0.0
        gains = gain(tf.where(real, grade, 0.0))
        d = discount(tf.range(1.0, CFG["docs"] + 1.0))
        order = tf.argsort(tf.where(real, scores, -1e6), axis=-1, direction="DESCENDING")
        dcg = tf.reduce_sum(tf.gather(gains, order, batch_dims=1) * d, axis=-1)
        best = tf.reduce_sum(tf.sort(gains, axis=-1, direction="DESCENDING") * d, axis=-1)
        super().update_state(tf.math.divide_no_nan(dcg, best))


def build():
    query = keras.Input((CFG["query_dim"],), name="query")
    docs = keras.Input((CFG["docs"], CFG["doc_dim"]), name="docs")
    q = layers.Dense(8, name="query_code")(query)
    d = layers.Dense(8, name="doc_code")(docs)
    cross = layers.Multiply(name="match")([layers.RepeatVector(CFG["docs"])(q), d])
    h = layers.Dense(16, activation="relu", name="hidden")(layers.Concatenate()([cross, docs]))
    h = layers.Dropout(0.1)(h)
    # a score is only ever compared with another of its list, so a bias would do nothing
    score = layers.Dense(1, use_bias=False, name="score")(h)
    return keras.Model({"query": query, "docs": docs}, layers.Reshape((CFG["docs"],))(score), name="ranker")


x_train, y_train = search_sessions(800, seed=1)
x_valid, y_valid = search_sessions(300, seed=2)
model = build()
model.compile(optimizer=keras.optimizers.Adam(CFG["lr"]), loss=LambdaLoss(), metrics=[MeanNDCG(name="ndcg")])
before = {v.path: v.numpy() for v in model.trainable_variables}
untrained = model.evaluate(x_valid, y_valid, verbose=0, return_dict=True)["ndcg"]
history = model.fit(x_train, y_train, batch_size=CFG["batch"], epochs=CFG["epochs"], validation_data=(x_valid, y_valid), verbose=0).history
print("loss     ", np.round(history["loss"], 3))
print("val ndcg ", np.round(history["val_ndcg"], 3), "untrained %.3f" % untrained)

assert history["loss"][-1] < 0.8 * history["loss"][0]
assert history["val_ndcg"][-1] > untrained + 0.1
assert all(not np.allclose(before[v.path], v.numpy()) for v in model.trainable_variables)
