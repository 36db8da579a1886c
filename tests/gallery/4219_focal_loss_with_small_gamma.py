# case: focal_loss_with_small_gamma
# verdict: bug; static: no
# cause: nan-pow
# expect_line: 21
# expect_variables: net/*
# symptom_today: silent: NaN appears during the first epoch, the loss is NaN from then on
# exit: 0
# fix: clip the probabilities away from 0 and 1 before the power, or use keras.losses.BinaryFocalCrossentropy(from_logits=True) with gamma >= 1
# source: fizyr/keras-retinanet#706, mkocabas/focal-loss-keras#5, kornia/kornia#918 (gamma below one gives NaN)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def focal(alpha=0.25, gamma=0.5):
    def loss(y_true, y_pred):
        y_true = tf.cast(y_true, y_pred.dtype)
        p_t = y_true * y_pred + (1.0 - y_true) * (1.0 - y_pred)
        weight = alpha * tf.pow(1.0 - p_t, gamma)
        return tf.reduce_mean(-weight * tf.math.log(p_t + 1e-7))
    return loss


net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"),
                        keras.layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(-3.0))], name="net")
net.compile(keras.optimizers.Adam(1e-3), focal())
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 6)).astype("float32")
x[5] *= 300.0
y = (rng.uniform(size=(64, 1)) < 0.05).astype("float32")
history = net.fit(x, y, batch_size=16, epochs=3, verbose=0)
print(history.history["loss"])
assert np.isnan(history.history["loss"][-1])
