# case: spearman_rank_loss
# verdict: bug
# cause: numpy-escape
# expect_line: 27
# expect_variables: -
# symptom_today: rank correlation used as a Keras loss ends in "No gradients provided"
# exit: 1
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)


def rank_rows(values):
    order = np.argsort(values, axis=0)
    return np.argsort(order, axis=0).astype("float32")


class SpearmanLoss(keras.losses.Loss):
    def __init__(self, name="spearman"):
        super().__init__(name=name)

    def call(self, y_true, y_pred):
        rank_true = tf.numpy_function(rank_rows, [y_true], tf.float32)
        rank_pred = tf.numpy_function(rank_rows, [y_pred], tf.float32)
        rank_true = tf.ensure_shape(rank_true, [None, 2])
        rank_pred = tf.ensure_shape(rank_pred, [None, 2])
        a = rank_true - tf.reduce_mean(rank_true, axis=0)
        b = rank_pred - tf.reduce_mean(rank_pred, axis=0)
        denom = tf.sqrt(tf.reduce_sum(a * a, axis=0) * tf.reduce_sum(b * b, axis=0)) + 1e-6
        rho = tf.reduce_sum(a * b, axis=0) / denom
        return 1.0 - tf.reduce_mean(rho)


def make_model(n_features, n_targets):
    inputs = keras.Input((n_features,))
    x = keras.layers.Dense(16, activation="elu")(inputs)
    return keras.Model(inputs, keras.layers.Dense(n_targets)(x))


rng = np.random.default_rng(0)
features = rng.normal(size=(64, 5)).astype("float32")
targets = (features[:, :2] ** 3 + 0.1 * rng.normal(size=(64, 2))).astype("float32")

model = make_model(5, 2)
model.compile(optimizer="adam", loss=SpearmanLoss())
model.fit(features, targets, batch_size=16, epochs=2, verbose=0)
print("trained")
