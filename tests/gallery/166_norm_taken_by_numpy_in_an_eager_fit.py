# case: norm_taken_by_numpy_in_an_eager_fit
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 16 18
# expect_variables: *
# symptom_today: fit raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: tf.norm / keras.ops.norm instead of np.linalg.norm
# seen: run_eagerly=True switched on to make NumPy work in a loss
import keras
import numpy as np
import tensorflow as tf


def relative_error(y_true, y_pred):
    diff = np.linalg.norm(y_true - y_pred, axis=-1)
    scale = np.linalg.norm(y_true, axis=-1)
    return tf.reduce_mean(tf.constant(diff / (scale + 1e-6), tf.float32))


def main():
    hidden = keras.layers.Dense(8, activation="relu")
    model = keras.Sequential([keras.layers.Input((3,)), hidden, keras.layers.Dense(2)])
    model.compile(optimizer="adam", loss=relative_error, run_eagerly=True)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(16, 3)).astype("float32")
    model.fit(x, x[:, :2] * 2.0, epochs=1, verbose=0)


main()
