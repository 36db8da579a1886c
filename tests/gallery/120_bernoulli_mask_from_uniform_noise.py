# case: bernoulli_mask_from_uniform_noise
# verdict: bug; static: no
# cause: non-reparameterised-sample | non-differentiable-op
# expect_line: 24
# expect_variables: keep_logit
# symptom_today: Keras warns about keep_logit; the pruning rate is never learned
# exit: 0
# fix: a relaxed Bernoulli (concrete) mask
# seen: learned dropout and feature selection layers
import keras
import numpy as np
import tensorflow as tf


class LearnedMask(keras.layers.Layer):
    def build(self, shape):
        self.keep_logit = self.add_weight(shape=(shape[-1],), initializer="zeros", name="keep_logit")

    def call(self, x, training=False):
        keep = keras.ops.sigmoid(self.keep_logit)
        if not training:
            return x * keep
        noise = keras.random.uniform(keras.ops.shape(x), seed=4)
        chosen = keras.ops.cast(noise < keep, x.dtype)
        return x * chosen


mask = LearnedMask()
net = keras.Sequential([keras.layers.Input((9,)), mask, keras.layers.Dense(1)])
net.compile(keras.optimizers.Adam(0.1), "mse")
x = np.random.default_rng(8).normal(size=(70, 9)).astype("float32")
net.fit(x, x[:, :1], epochs=3, verbose=0)
print(mask.keep_logit.numpy())
assert np.all(mask.keep_logit.numpy() == 0.0)
