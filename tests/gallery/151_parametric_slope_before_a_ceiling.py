# case: parametric_slope_before_a_ceiling
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 22
# expect_variables: p_re_lu/alpha, dense/*, dense_1/*
# symptom_today: Keras raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: leave tf.math.ceil to the prediction and train on the continuous output
# seen: a model of whole-number sales whose last layer is a Lambda
import numpy as np
from tensorflow import keras
import tensorflow as tf

rng = np.random.default_rng(3)
features = rng.normal(size=(64, 5)).astype("float32")
sold = np.ceil(np.abs(features).sum(axis=1, keepdims=True)).astype("float32")

inputs = keras.Input((5,))
h = keras.layers.Dense(12)(inputs)
h = keras.layers.PReLU()(h)
h = keras.layers.Dense(1)(h)
outputs = keras.layers.Lambda(lambda t: tf.math.ceil(t))(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer="rmsprop", loss="mae")
model.fit(features, sold, epochs=1, batch_size=16, verbose=0)
