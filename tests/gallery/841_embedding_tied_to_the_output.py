# case: embedding_tied_to_the_output
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: weight tying in language models
import keras
import numpy as np


class Tied(keras.Model):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.words = keras.layers.Embedding(vocabulary, width)
        self.rnn = keras.layers.GRU(width, return_sequences=True)
        self.bias = self.add_weight(shape=(vocabulary,), initializer="zeros", name="bias")

    def call(self, ids):
        h = self.rnn(self.words(ids))
        return keras.ops.matmul(h, keras.ops.transpose(self.words.embeddings)) + self.bias


keras.utils.set_random_seed(3)
model = Tied(12, 6)
model.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
text = np.random.default_rng(0).integers(0, 12, size=(40, 6))
text[:, 1:] = (text[:, :1] + np.arange(1, 6)) % 12
log = model.fit(text[:, :-1], text[:, 1:], epochs=5, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0]
