# case: decoder_never_gets_the_encoder_state
# verdict: bug; static: no
# cause: variable-not-in-loss
# expect_line: 29 28
# expect_variables: summariser/encoder/* , summariser/source_embedding/*
# symptom_today: warning: Gradients do not exist for variables of the source embedding and the encoder
# exit: 0
# fix: self.decoder(..., initial_state=[h, c])
# source: tensorflow/tensorflow#43258 (bidirectional encoder among the variables without a gradient)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(8)


class Summariser(keras.Model):
    def __init__(self, words=30, units=12):
        super().__init__(name="summariser")
        self.source_embedding = layers.Embedding(words, 8, name="source_embedding")
        self.target_embedding = layers.Embedding(words, 8, name="target_embedding")
        self.encoder = layers.LSTM(units, return_state=True, name="encoder")
        self.decoder = layers.LSTM(units, return_sequences=True, name="decoder")
        self.to_words = layers.Dense(words, name="to_words")

    def call(self, inputs):
        source, target = inputs
        _, h, c = self.encoder(self.source_embedding(source))
        decoded = self.decoder(self.target_embedding(target))
        return self.to_words(decoded)


rng = np.random.default_rng(0)
source = rng.integers(1, 30, (32, 9))
target = rng.integers(1, 30, (32, 5))
model = Summariser()
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit((source, target[:, :-1]), target[:, 1:], batch_size=8, epochs=1, verbose=0)
print("done")
