# case: layer_frozen_by_a_callback
# verdict: bug; static: no
# cause: frozen-by-flag
# expect_line: 23 34
# expect_variables: embedding/*
# symptom_today: silent: the embedding goes on learning after the callback froze it
# exit: 0
# fix: end the first fit, freeze, compile again, fit on
# seen: gradual freezing written as a callback
import keras
import numpy as np

keras.utils.set_random_seed(5)


class FreezeEmbedding(keras.callbacks.Callback):
    def __init__(self, layer, at_epoch):
        super().__init__()
        self.layer, self.at_epoch, self.snapshot = layer, at_epoch, None

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.at_epoch:
            self.layer.trainable = False
            self.snapshot = self.layer.get_weights()[0]


embedding = keras.layers.Embedding(30, 6)
model = keras.Sequential([keras.layers.Input((5,)), embedding, keras.layers.GlobalAveragePooling1D(),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
rng = np.random.default_rng(5)
words, labels = rng.integers(0, 30, (64, 5)), rng.integers(0, 2, (64, 1))
freeze = FreezeEmbedding(embedding, at_epoch=2)
model.fit(words, labels, epochs=4, callbacks=[freeze], verbose=0)
assert not np.array_equal(freeze.snapshot, embedding.get_weights()[0])
