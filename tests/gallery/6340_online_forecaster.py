# case: online_forecaster
# verdict: bug
# cause: optimizer-recreated
# expect_line: 30
# expect_variables: -
# symptom_today: a new optimizer for every call of the update (compiling again rebuilds it) and the state lost on replacement
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)


class OnlineForecaster:
    def __init__(self, window, learning_rate=0.01):
        self.window = window
        self.learning_rate = learning_rate
        self.net = keras.Sequential([
            keras.Input((window,)),
            keras.layers.Dense(16, activation="tanh"),
            keras.layers.Dense(1),
        ])

    def loss(self, history, target):
        return tf.reduce_mean(tf.square(self.net(history)[:, 0] - target))

    def update(self, history, target):
        optimizer = keras.optimizers.Adam(self.learning_rate, beta_1=0.9)
        with tf.GradientTape() as tape:
            value = self.loss(history, target)
        grads = tape.gradient(value, self.net.trainable_variables)
        optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return float(value)


def stream(length, window, batch=16):
    t = np.arange(length + window + batch)
    signal = np.sin(t / 7.0) + 0.2 * np.sin(t / 2.3)
    for i in range(length):
        rows = np.stack([signal[i + j:i + j + window] for j in range(batch)])
        yield rows.astype("float32"), signal[i + window:i + window + batch].astype("float32")


model = OnlineForecaster(window=12)
errors = [model.update(h, y) for h, y in stream(60, 12)]
print("first", np.mean(errors[:10]), "last", np.mean(errors[-10:]))
