# case: scores_that_only_choose_the_tokens
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 28 29
# expect_variables: scorer/*
# symptom_today: Keras warns for the scorer; which tokens are kept is never learned
# exit: 0
# fix: multiply the kept tokens by their (soft) scores
# seen: token pruning in vision transformers
import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(9)


class KeepBest(layers.Layer):
    def __init__(self, keep, **kwargs):
        super().__init__(**kwargs)
        self.keep = keep
        self.scorer = layers.Dense(1, name="scorer")

    def build(self, shape):
        self.scorer.build(shape)

    def call(self, tokens):
        scores = ops.squeeze(self.scorer(tokens), -1)
        _, chosen = ops.top_k(scores, self.keep)
        return ops.take_along_axis(tokens, chosen[..., None], axis=1)


tokens = layers.Input((9, 8))
pruner = KeepBest(4)
x = layers.MultiHeadAttention(2, 4)(tokens, tokens)
x = pruner(layers.Add()([tokens, x]))
x = layers.GlobalAveragePooling1D()(x)
vit = keras.Model(tokens, layers.Dense(3, activation="softmax")(x))
vit.compile("adam", "sparse_categorical_crossentropy")
rng = np.random.default_rng(1)
before = pruner.scorer.kernel.numpy()
vit.fit(rng.normal(size=(24, 9, 8)).astype("float32"), rng.integers(0, 3, 24), epochs=2, verbose=0)
assert np.array_equal(before, pruner.scorer.kernel.numpy())
