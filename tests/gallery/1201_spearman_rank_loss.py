# case: spearman_rank_loss
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 30
# expect_variables: dense/*, dense_1/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: use a differentiable (soft) rank, or Pearson correlation of the predictions
# source: tensorflow/tensorflow#35713 (spearman loss with scipy rankdata in numpy_function)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)
BATCH = 8


def ranks(values):
    out = np.empty(len(values), dtype="float32")
    out[np.argsort(values)] = np.arange(1, len(values) + 1)
    return out


def spearman_loss(n_targets):
    def loss(y_true, y_pred):
        rhos = []
        for k in range(n_targets):
            truth, guess = y_true[:, k], y_pred[:, k]
            r_true = tf.numpy_function(ranks, [truth], tf.float32)
            r_pred = tf.numpy_function(ranks, [guess], tf.float32)
            d2 = tf.reduce_sum(tf.square(r_true - r_pred))
            rhos.append(1.0 - 6.0 * d2 / (BATCH ** 3 - BATCH))
        return -tf.reduce_sum(rhos)

    return loss


inputs = keras.Input((5,))
hidden = keras.layers.Dense(16, activation="relu")(inputs)
model = keras.Model(inputs, keras.layers.Dense(2)(hidden))
model.compile(optimizer="adam", loss=spearman_loss(2))

rng = np.random.default_rng(0)
x = rng.normal(size=(32, 5)).astype("float32")
y = np.stack([x.sum(1), x[:, 0] - x[:, 1]], 1).astype("float32")
model.fit(x, y, batch_size=BATCH, epochs=2, verbose=0)
