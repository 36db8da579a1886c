# case: padding_bias_in_half_precision
# verdict: bug; static: yes
# cause: nan-float16
# expect_line: 27 28
# expect_variables: block/*
# symptom_today: silent: loss NaN in the first step (mixed_float16)
# exit: 0
# fix: use a constant that half precision can hold (-1e4, or keras.layers.Softmax with a mask), or compute the scores in float32
# source: openai/gpt-2#122, huggingface/transformers#382, tensorflow/tensorflow#59657 (mask constant overflows in float16)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_float16")


class Block(keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = (keras.layers.Dense(dim) for _ in range(3))
        self.scale = dim ** -0.5

    def call(self, x, keep):
        score = tf.matmul(self.q(x), self.k(x), transpose_b=True) * self.scale
        keep = tf.cast(keep, score.dtype)
        bias = (1.0 - keep) * tf.cast(-1e9, score.dtype)
        return tf.matmul(tf.nn.softmax(score + bias[:, None, :]), self.v(x))


tokens, keep = keras.Input((6, 8)), keras.Input((6,))
h = keras.layers.GlobalAveragePooling1D()(Block(8)(tokens, keep))
model = keras.Model([tokens, keep], keras.layers.Dense(1, dtype="float32")(h))
model.compile(keras.optimizers.Adam(1e-3), "mse")
rng = np.random.default_rng(0)
x = rng.normal(size=(16, 6, 8)).astype("float32")
mask = np.ones((16, 6), "float32")
mask[:, 4:] = 0.0
history = model.fit([x, mask], x.mean((1, 2))[:, None], epochs=2, verbose=0)
print(history.history["loss"])
assert np.isnan(history.history["loss"]).all()
