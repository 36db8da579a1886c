# case: half_precision_rms_norm
# verdict: bug; static: no
# cause: nan-float16 | nan-sqrt | nan-division
# expect_line: 28
# expect_variables: rms_norm/gain, dense/*, dense_1/* (gradients nan at every step, so the loss-scale optimizer skips all of them)
# symptom_today: silent: loss nan in every epoch, the weights never move
# exit: 0
# fix: compute the norm in float32, or use an epsilon that float16 can hold (1e-3)
# source: keras-team/keras#22586 (normalisation epsilon below the float16 range gives NaN), keras-team/keras#11832 (float16 training went nan until the epsilon was 1e-4)
import numpy as np
import tensorflow as tf
import keras

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(0)


class RMSNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, shape):
        self.gain = self.add_weight(shape=(shape[-1],), initializer="ones", name="gain")

    def call(self, x):
        power = tf.reduce_mean(tf.square(x), axis=-1, keepdims=True)
        return x * tf.math.rsqrt(power + self.epsilon) * tf.cast(self.gain, x.dtype)


sequence = keras.Input((6, 4))
h = RMSNorm()(sequence)
h = keras.layers.Dense(8, activation="relu")(h)
h = keras.layers.GlobalAveragePooling1D()(h)
model = keras.Model(sequence, keras.layers.Dense(1, dtype="float32")(h))
model.compile(keras.optimizers.Adam(1e-2), "mse")

x = np.random.default_rng(0).normal(size=(32, 6, 4)).astype("float32")
x[:, 4:, :] = 0.0                                 # the tail is padding
before = [w.copy() for w in model.get_weights()]
log = model.fit(x, x.mean(axis=(1, 2)), batch_size=8, epochs=2, verbose=0).history["loss"]
print("loss", log, "weights moved:", any((a != b).any() for a, b in zip(before, model.get_weights())))
assert np.isnan(log).all()
