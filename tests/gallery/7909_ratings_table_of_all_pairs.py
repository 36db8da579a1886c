# case: recommender_dot_and_bias_make_a_square
# verdict: bug
# cause: loss-shape-broadcast
# expect_line: 44 46 57 58
# expect_variables: -
# symptom_today: predictions have shape (batch, batch); the loss stays at the variance of the ratings although the tastes are easy to factorise
# exit: 0
# fix: sum with keepdims=True so that the dot product is (batch, 1) like the biases and the ratings
# source: GitHub keras-team/keras-io 397, shape of the dot product in the collaborative filtering example; keras-team/keras 14627 for the broadcasting loss
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers, ops, regularizers

N_READERS, N_BOOKS, RANK = 80, 50, 2


def ratings_table(seed=3, n=4000):
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(N_READERS, RANK))
    style = rng.normal(size=(N_BOOKS, RANK))
    reader = rng.integers(0, N_READERS, n)
    book = rng.integers(0, N_BOOKS, n)
    stars = (taste[reader] * style[book]).sum(1) + 0.1 * rng.normal(size=n)
    stars = (stars - stars.mean()) / stars.std()
    return {"reader": reader[:, None], "book": book[:, None]}, stars[:, None].astype("float32")


class MatrixFactorisation(keras.Model):
    def __init__(self, rank, **kw):
        super().__init__(**kw)
        tiny = regularizers.l2(1e-6)
        def table(rows, width, name):
            return layers.Embedding(rows, width, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3),
                                    embeddings_regularizer=tiny, name=name)
        self.reader_vec = table(N_READERS, rank, "reader_vec")
        self.book_vec = table(N_BOOKS, rank, "book_vec")
        self.reader_bias = layers.Embedding(N_READERS, 1, embeddings_initializer="zeros", name="reader_bias")
        self.book_bias = layers.Embedding(N_BOOKS, 1, embeddings_initializer="zeros", name="book_bias")

    def call(self, inputs):
        reader = inputs["reader"][:, 0]
        book = inputs["book"][:, 0]
        affinity = ops.sum(self.reader_vec(reader) * self.book_vec(book), axis=-1)
        offset = self.reader_bias(reader) + self.book_bias(book)
        return affinity + offset


def main():
    keras.utils.set_random_seed(3)
    pairs, stars = ratings_table()
    cut = 3200
    train = {k: v[:cut] for k, v in pairs.items()}
    held = {k: v[cut:] for k, v in pairs.items()}

    mf = MatrixFactorisation(RANK, name="mf")
    mf.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse")
    history = mf.fit(train, stars[:cut], batch_size=64, epochs=15, verbose=0)

    curve = history.history["loss"]
    print("training loss:", round(curve[0], 3), "->", round(curve[-1], 3))
    sample = {k: v[:64] for k, v in held.items()}
    shape = tuple(mf(sample).shape)
    print("a batch of 64 gives", shape)
    assert shape == (64, 64)
    assert curve[-1] > 0.75, "tastes were learned after all"


if __name__ == "__main__":
    main()
