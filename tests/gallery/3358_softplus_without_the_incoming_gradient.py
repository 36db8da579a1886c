# case: softplus_without_the_incoming_gradient
# verdict: bug
# cause: wrong-custom-gradient
# expect_line: 20 19 18
# expect_variables: pre/kernel, pre/bias
# symptom_today: learns much less than with tf.nn.softplus, although the activation gives the right values and has the right slope
# exit: 0
# fix: return upstream * tf.sigmoid(x)
import keras
import numpy as np
import tensorflow as tf


@tf.custom_gradient
def softplus(x):
    value = tf.maximum(x, 0.0) + tf.math.log1p(tf.exp(-tf.abs(x)))

    def backward(upstream):
        slope = tf.sigmoid(x)
        return slope

    return value, backward


class PositiveRates(keras.layers.Layer):
    """Dense layer whose outputs are rates above zero."""

    def __init__(self, units, activation, **kwargs):
        super().__init__(**kwargs)
        self.pre = keras.layers.Dense(units, name="pre")
        self.activation = activation

    def build(self, shape):
        self.pre.build(shape)
        super().build(shape)

    def call(self, x):
        return self.activation(self.pre(x))


class CountModel(keras.Model):
    def __init__(self, activation, hidden=16):
        super().__init__()
        self.rates = PositiveRates(hidden, activation, name="rates")
        self.mix = keras.layers.Dense(1, name="mix")

    def call(self, x):
        return self.mix(self.rates(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = tf.reduce_mean(tf.square(pred - y))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"mse": loss}


def make_set(n=512, seed=9):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5)).astype("float32")
    y = np.log1p(np.exp(x @ rng.normal(size=(5, 1)))) - 1.0
    return x, y.astype("float32")


def numeric_slope(model, x, y, eps=1e-2):
    kernel = model.rates.pre.kernel
    keep = kernel.numpy()
    out = []
    for sign in (1, -1):
        shifted = keep.copy()
        shifted[0, 0] += sign * eps
        kernel.assign(shifted)
        out.append(float(tf.reduce_mean(tf.square(model(x) - y))))
    kernel.assign(keep)
    return (out[0] - out[1]) / (2 * eps)


def fit(activation, x, y):
    keras.utils.set_random_seed(2)
    model = CountModel(activation)
    model.compile(optimizer=keras.optimizers.SGD(0.02))
    hist = model.fit(x, y, batch_size=64, epochs=6, verbose=0)
    return model, hist.history["mse"]


def main():
    x, y = make_set()
    model, curve = fit(softplus, x, y)
    np.testing.assert_allclose(softplus(x), tf.nn.softplus(x), atol=1e-5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    taped = float(tape.gradient(loss, model.rates.pre.kernel.value)[0, 0])
    numeric = numeric_slope(model, x, y)
    print("slope by tape %.4f, by differences %.4f" % (taped, numeric))

    _, plain = fit(tf.nn.softplus, x, y)
    print("mse", np.round(curve, 3), "with the built-in activation", np.round(plain, 3))
    assert abs(taped - numeric) > 0.5 * max(abs(taped), abs(numeric))
    assert curve[-1] > 2 * plain[-1]


if __name__ == "__main__":
    main()
