# case: small_language_model_with_fit
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a causal transformer trained with fit, warm-up schedule and weight decay
import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(0)
VOCAB, LENGTH, WIDTH = 16, 8, 16


class Block(layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.attend = layers.MultiHeadAttention(heads, width // heads, dropout=0.1)
        self.mlp = keras.Sequential([layers.Dense(2 * width, activation="gelu"), layers.Dense(width)])
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()

    def build(self, shape):
        self.attend.build(shape, shape)
        self.mlp.build(shape)
        self.norm1.build(shape)
        self.norm2.build(shape)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attend(h, h, use_causal_mask=True)
        return x + self.mlp(self.norm2(x))


class Embed(layers.Layer):
    def __init__(self):
        super().__init__()
        self.token, self.position = layers.Embedding(VOCAB, WIDTH), layers.Embedding(LENGTH, WIDTH)

    def build(self, shape):
        self.token.build(shape)
        self.position.build((LENGTH,))

    def call(self, ids):
        return self.token(ids) + self.position(ops.arange(LENGTH))


ids = keras.Input((LENGTH,), dtype="int32")
x = Embed()(ids)
x = Block(WIDTH, 2)(x)
gpt = keras.Model(ids, layers.Dense(VOCAB)(layers.LayerNormalization()(x)))
schedule = keras.optimizers.schedules.CosineDecay(0.0, 40, warmup_target=5e-3, warmup_steps=5)
gpt.compile(keras.optimizers.AdamW(schedule, weight_decay=0.01, clipnorm=1.0),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True))
text = (np.arange(LENGTH + 1)[None] + np.arange(64)[:, None]) % VOCAB
losses = gpt.fit(text[:, :-1], text[:, 1:], epochs=5, batch_size=16, verbose=0).history["loss"]
assert losses[-1] < losses[0]
