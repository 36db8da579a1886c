# case: vectors_of_unknown_words
# verdict: bug; static: no
# cause: nan-weights
# expect_line: 22 29
# expect_variables: words/embeddings (NaN before training starts)
# symptom_today: NumPy RuntimeWarning (mean of empty slice) while the table is made, then loss nan
# exit: 0
# fix: use a zero or random vector when a word has no known piece
# source: keras-team/keras#3664 (pretrained word embeddings example: loss nan in the second batch), keras-team/keras#9055 (weights are nan before training)
import numpy as np
import keras

keras.utils.set_random_seed(0)
DIM = 6
vocabulary = ["<pad>", "cat", "dog", "catfish", "xqz", "dogma", "fishing"]
rng = np.random.default_rng(0)
pieces = {piece: rng.normal(size=DIM) for piece in ("cat", "dog", "fish", "ma", "ing")}


def vector_of(word):
    known = [pieces[p] for p in pieces if p in word]
    return np.mean(np.array(known).reshape(-1, DIM), axis=0)


table = np.stack([np.zeros(DIM)] + [vector_of(w) for w in vocabulary[1:]]).astype("float32")

words = keras.layers.Embedding(len(vocabulary), DIM, name="words")
words.build()
words.set_weights([table])

tokens = keras.Input((5,), dtype="int32")
pooled = keras.layers.GlobalAveragePooling1D()(words(tokens))
model = keras.Model(tokens, keras.layers.Dense(1, activation="sigmoid")(pooled))
model.compile("adam", "binary_crossentropy")
texts = rng.integers(0, len(vocabulary), size=(40, 5))
loss = model.fit(texts, rng.integers(0, 2, size=(40, 1)), batch_size=10, epochs=1, verbose=0).history["loss"]
print("loss", loss)
assert np.isnan(loss[0])
