# case: piano_keys_floor_sampling
# verdict: bug; static: yes
# cause: non-differentiable-op | non-reparameterised-sample
# expect_line: 22
# expect_variables: gru/*, dense/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: train on the probabilities (binary cross-entropy) and sample only at generation time, or use a straight-through estimator
# source: keras-team/keras#5521 (floor(x + uniform) as output layer)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(8)


class FloorSampling(keras.layers.Layer):
    """Turns key probabilities into pressed (1) and released (0) keys."""

    def call(self, probabilities):
        noise = tf.random.uniform(tf.shape(probabilities), seed=3)
        return tf.floor(probabilities + noise)


notes = keras.Input((16, 10))
h = keras.layers.GRU(12)(notes)
p = keras.layers.Dense(10, activation="sigmoid")(h)
model = keras.Model(notes, FloorSampling()(p))
model.compile("adam", loss="mse")
rng = np.random.default_rng(0)
x = (rng.uniform(size=(20, 16, 10)) > 0.8).astype("float32")
y = x[:, -1]
model.fit(x, y, epochs=1, verbose=0)
