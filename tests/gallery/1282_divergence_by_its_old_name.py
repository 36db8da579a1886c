# case: divergence_by_its_old_name
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 17
# expect_variables: -
# symptom_today: AttributeError: module 'keras.losses' has no attribute 'kullback_leibler_divergence'
# exit: 1
# fix: keras.losses.kl_divergence
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation="softmax")])
x, y = np.random.rand(16, 3).astype("float32"), np.full((16, 2), 0.5, "float32")
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(keras.losses.kullback_leibler_divergence(y, model(x)))
tape.gradient(loss, model.trainable_variables)
