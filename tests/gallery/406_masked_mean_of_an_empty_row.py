# case: masked_mean_of_an_empty_row
# verdict: bug; static: no
# cause: nan-division
# expect_line: 18
# expect_variables: embedding/embeddings, dense/* (reader/*)
# symptom_today: silent: one sentence without tokens makes every weight NaN
# exit: 0
# fix: tf.math.divide_no_nan, or maximum(count, 1)
# seen: mean pooling over a padding mask
import keras
import numpy as np
import tensorflow as tf


class MaskedMean(keras.layers.Layer):
    def call(self, values, mask):
        keep = tf.cast(mask, values.dtype)[..., None]
        return tf.reduce_sum(values * keep, axis=1) / tf.reduce_sum(keep, axis=1)


ids = keras.Input((5,), dtype="int32")
vectors = keras.layers.Embedding(12, 4)(ids)
mask = keras.layers.Lambda(lambda t: t > 0)(ids)
pooled = MaskedMean()(vectors, mask=mask)
reader = keras.Model(ids, keras.layers.Dense(1)(pooled), name="reader")
reader.compile("adam", "mse")
sentences = np.array([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0], [0, 0, 0, 0, 0], [7, 8, 9, 10, 11]])
log = reader.fit(sentences, np.ones((4, 1), "float32"), epochs=2, verbose=0).history["loss"]
print(log)
assert np.isnan(log[-1])
